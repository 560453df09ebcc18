// Creates a callable model from a grant.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelGrant } from '../port/grants.ts';
import type { EndpointKind } from '../port/protocol.ts';
import { modelFetch } from './http.ts';
import { makeOfflineModel } from './offline.ts';
import { REPLY_PROTOCOLS } from './reply-events.ts';

const MAX_OPEN = 64;
const opened = new Map<string, LanguageModelV4>();

const OPENERS: Readonly<Record<EndpointKind, (grant: ModelGrant, connectTimeoutMs: number) => LanguageModelV4>> = {
  openai: (grant, connectTimeoutMs) =>
    createOpenAICompatible({
      name: 'openai',
      baseURL: normalizeBaseUrl(grant.baseUrl),
      includeUsage: true,
      fetch: modelFetch(grant, connectTimeoutMs, REPLY_PROTOCOLS.openai),
      ...(grant.apiKey === null ? {} : { apiKey: grant.apiKey }),
    }).chatModel(grant.model),
  anthropic: (grant, connectTimeoutMs) =>
    createAnthropic({
      baseURL: normalizeBaseUrl(grant.baseUrl),
      // Without a key the provider would look for one in the environment.
      apiKey: grant.apiKey ?? 'none',
      fetch: modelFetch(grant, connectTimeoutMs, REPLY_PROTOCOLS.anthropic),
    }).languageModel(grant.model),
  offline: (grant) => makeOfflineModel(grant.model),
};

/** The model of a grant, cached for the next run of this thread with the same grant. */
export function openModel(grant: ModelGrant, connectTimeoutMs: number): LanguageModelV4 {
  const { kind, baseUrl, apiKey, extras, model } = grant;
  const name = JSON.stringify([kind, baseUrl, apiKey, extras, model, connectTimeoutMs]);
  const known = opened.get(name);
  if (known !== undefined) return known;
  if (opened.size >= MAX_OPEN) opened.clear();
  const fresh = OPENERS[kind](grant, connectTimeoutMs);
  opened.set(name, fresh);
  return fresh;
}

/** The address that the protocol's paths are appended to: `/v1` is added when the administrator gave no path. */
export function normalizeBaseUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  if (url.pathname === '/') url.pathname = '/v1';
  return url.href.replace(/\/+$/, '');
}
