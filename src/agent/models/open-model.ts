// Creates a callable model from a grant.
import { VERSION } from '../../version.ts';
import type { ModelGrant } from '../port/grants.ts';
import type { Halt } from '../../domain/halt.ts';
import type { EndpointKind } from '../port/protocol.ts';
import { ANTHROPIC_MESSAGES } from './anthropic-messages.ts';
import { dressOf } from './dress-call.ts';
import type { TakeEvent } from './event.ts';
import { streamReply, type Target } from './http.ts';
import type { Prompt } from './message.ts';
import { answerOffline } from './offline.ts';
import { OPENAI_CHAT } from './openai-chat.ts';
import type { Protocol } from './protocol.ts';
import { makeByteReader } from './read-reply.ts';
import { splitThinking } from './reading/thinking-tags.ts';
import { writeBody } from './write-body.ts';

/** Where the events of one reply go, and what limits it. */
export interface Exchange {
  readonly take: TakeEvent;
  readonly halt: Halt;
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
  const { kind, baseUrl, apiKey, caFile, extras, model, thinkingTags } = grant;
  const name = JSON.stringify([kind, baseUrl, apiKey, caFile, extras, model, thinkingTags, connectTimeoutMs]);
  const known = opened.get(name);
  if (known !== undefined) return known;
  if (opened.size >= MAX_OPEN) opened.clear();
  const fresh = kind === 'offline' ? OFFLINE : remoteModel(grant, PROTOCOLS[kind], connectTimeoutMs);
  opened.set(name, fresh);
  return fresh;
}

const OFFLINE: Model = {
  ask: async (prompt, { take, halt }) => {
    for await (const event of answerOffline(prompt, halt.signal)) take(event);
  },
};

function remoteModel(grant: ModelGrant, protocol: Protocol, connectTimeoutMs: number): Model {
  const dress = dressOf(grant);
  const { origin, pathname, search } = new URL(dress.address(`${normalizeBaseUrl(grant.baseUrl)}${protocol.path}`));
  const headers = dress.headers({
    'content-type': 'application/json',
    'user-agent': `errand/${VERSION}`,
    ...protocol.headersOf(grant.apiKey),
  });
  const target: Target = { origin, path: `${pathname}${search}`, headers, connectTimeoutMs, caFile: grant.caFile };
  return {
    ask: (prompt, { take, halt, maxReplyBytes, waits }) => {
      const body = writeBody(dress.body(protocol.bodyOf(grant, prompt)));
      const takeEvent = grant.thinkingTags ? splitThinking(take) : take;
      return streamReply({ target, body, halt }, makeByteReader(protocol, maxReplyBytes, takeEvent), waits);
    },
  };
}

/** The address that the protocol's paths are appended to: `/v1` is added when the administrator gave no path. */
export function normalizeBaseUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  if (url.pathname === '/') url.pathname = '/v1';
  return url.href.replace(/\/+$/, '');
}
