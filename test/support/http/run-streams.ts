// Streams of runs as clients read them over HTTP.
import { expect } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.ts';
import { chatStreamData } from '../../../src/wire/chat/completion.ts';
import { messagesStreamEvent } from '../../../src/wire/messages/stream-event.ts';
import { responsesStreamEvent } from '../../../src/wire/responses/stream-event.ts';
import type { AnyShape } from '../../../src/wire/shapes/shape.ts';
import { type Fixture, INPUT, send, TURN } from './http-fixture.ts';
import { makeSseParser, readSse, type SseEvent } from './sse.ts';

export const KEY = 'conversation-key';
export const MESSAGES = '/openapi/v1/messages';
export const CHAT = '/openapi/v1/chat/completions';
export const RESPONSES = '/openapi/v1/responses';

const SHAPES: Readonly<Record<string, AnyShape>> = {
  [MESSAGES]: messagesStreamEvent,
  [CHAT]: chatStreamData,
  [RESPONSES]: responsesStreamEvent,
};

export const parse = (text: string): SseEvent[] => makeSseParser().push(text);

/** Runs a whole streamed turn; the request's body and headers may be added to. */
export async function streamed(
  fixture: Fixture,
  path: string,
  body: object = {},
  headers: Record<string, string> = {},
) {
  const got = await send(fixture, {
    method: 'POST',
    path,
    as: KEY,
    body: { ...(path === RESPONSES ? INPUT : TURN), stream: true, ...body },
    headers,
  });
  const events = parse(got.text);
  requireShape(events, SHAPES[path]!);
  return { got, events, run: fixture.book.runs.at(-1)! };
}

/** A reader drops what its shape doesn't have, and refuses what lacks a field. */
export function requireShape(events: readonly SseEvent[], shape: AnyShape): void {
  for (const { data } of events) {
    if (data === null || data === '[DONE]') continue;
    const value = JSON.parse(data) as JsonValue;
    expect(shape.read(value, '')).toEqual(value);
  }
}

export const json = ({ data }: SseEvent): Record<string, unknown> => JSON.parse(data!) as Record<string, unknown>;

/** Opens a stream that is read as it comes. */
export async function live(fixture: Fixture, path: string, init: { method?: string; body?: string } = {}) {
  const leave = new AbortController();
  const response = await fetch(`${fixture.url}${path}`, {
    ...init,
    signal: leave.signal,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  });
  const events = readSse(response.body!);
  const next = async (): Promise<SseEvent | undefined> => (await events.next()).value ?? undefined;
  return { response, next, leave: () => leave.abort() };
}

export const START = { method: 'POST', body: JSON.stringify({ ...TURN, stream: true }) };
