// Creates a callable model from a grant.
import { VERSION } from '../../version.ts';
import type { ModelGrant } from '../port/grants.ts';
import type { EndpointKind } from '../port/protocol.ts';
import { ANTHROPIC_MESSAGES } from './anthropic-messages.ts';
import { dressOf } from './dress-call.ts';
import type { TakeEvent } from './event.ts';
import { streamReply } from './http.ts';
import type { Prompt } from './message.ts';
import { answerOffline } from './offline.ts';
import { OPENAI_CHAT } from './openai-chat.ts';
import type { Protocol } from './protocol.ts';
import { makeByteReader } from './read-reply.ts';

/** Where the events of one reply go, and what limits it. */
export interface Exchange {
  readonly take: TakeEvent;
  readonly signal: AbortSignal;
  /** Text, thinking and tool calls of a reply together; also the limit of one event. */
  readonly maxReplyBytes: number;
  /** Called when the request was sent, and when bytes of the reply are processed. */
  readonly waits: (isWaiting: boolean) => void;
}

/** A model that can be asked. */
export interface Model {
  /**
   * Asks once. Gives `take` the events of the reply; the last one of a complete reply is `finish`. Rejects with the fault of
   * an incomplete one, or with the reason of the abort.
   */
  ask(prompt: Prompt, exchange: Exchange): Promise<void>;
}

const MAX_OPEN = 64;
const opened = new Map<string, Model>();

/** The protocols that are used over a network. */
const PROTOCOLS: Readonly<Record<Exclude<EndpointKind, 'offline'>, Protocol>> = {
  openai: OPENAI_CHAT,
  anthropic: ANTHROPIC_MESSAGES,
};

/** The model of a grant, cached for the next run of this thread with the same grant. */
export function openModel(grant: ModelGrant, connectTimeoutMs: number): Model {
  const { kind, baseUrl, apiKey, extras, model } = grant;
  const name = JSON.stringify([kind, baseUrl, apiKey, extras, model, connectTimeoutMs]);
  const known = opened.get(name);
  if (known !== undefined) return known;
  if (opened.size >= MAX_OPEN) opened.clear();
  const fresh = kind === 'offline' ? OFFLINE : remoteModel(grant, PROTOCOLS[kind], connectTimeoutMs);
  opened.set(name, fresh);
  return fresh;
}

const OFFLINE: Model = {
  ask: async (prompt, { take, signal }) => {
    for await (const event of answerOffline(prompt, signal)) take(event);
  },
};

function remoteModel(grant: ModelGrant, protocol: Protocol, connectTimeoutMs: number): Model {
  const dress = dressOf(grant);
  const base = normalizeBaseUrl(grant.baseUrl);
  const common = {
    'content-type': 'application/json',
    'user-agent': `errand/${VERSION}`,
    ...protocol.headersOf(grant.apiKey),
  };
  return {
    ask: (prompt, { take, signal, maxReplyBytes, waits }) => {
      const { path, headers, body } = protocol.requestOf(grant, prompt);
      const call = {
        address: dress.address(`${base}${path}`),
        headers: dress.headers({ ...common, ...headers }),
        body: dress.body(body),
        connectTimeoutMs,
        signal,
      };
      return streamReply(call, makeByteReader(protocol, maxReplyBytes, take), waits);
    },
  };
}

/** The address that the protocol's paths are appended to: `/v1` is added when the administrator gave no path. */
export function normalizeBaseUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  if (url.pathname === '/') url.pathname = '/v1';
  return url.href.replace(/\/+$/, '');
}
