// Follows one of Office Mode's streams for as long as anyone looks on: it outlives restarts, refusals and silence.
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '../domain/json.ts';
import type { OfficeEventWire } from '../wire/journal-event.ts';
import type { RunWords } from '../wire/office/stream.ts';
import { ClientError, isClientFailure } from './transport/client-error.ts';
import { readEvents } from './transport/event-stream.ts';
import { isTransient } from './transport/reconnect-backoff.ts';
import { withIdleTimeout, openStream } from './transport/stream-connection.ts';
import { lostWhile, traceOf, type Address } from './transport/transport.ts';

/** An event of an Office Mode stream (§2.14); words are on the floor's alone. A newer daemon may send other types, too. */
export type OfficeEvent = OfficeEventWire | RunWords;

/**
 * What a watcher learns. `open`: connected; unless `resumed`, events before this moment may be missing. `reset`: the
 * daemon no longer has what was missed, so the state has to be read again; what follows is newer than the event `id`. `lost`: tries again after `retryMs`.
 */
export type OfficeNews =
  | { readonly kind: 'open'; readonly resumed: boolean }
  | { readonly kind: 'event'; readonly event: OfficeEvent }
  | { readonly kind: 'reset'; readonly id: string | null }
  | { readonly kind: 'lost'; readonly failure: ClientError; readonly retryMs: number };

export interface FollowOptions {
  /** The last event that was seen, to resume after it. */
  readonly lastEventId?: string | null;
  /** Pauses before each try; the last one repeats. */
  readonly retryDelaysMs?: readonly number[];
  /** Ends the generator without an error. */
  readonly signal?: AbortSignal | undefined;
}

const RETRY_DELAYS_MS = [250, 500, 1000, 2000, 4000, 8000];

/** A connection that held this long counts as healthy, though nothing happened on it. */
const HEALTHY_MS = 10_000;

/** Yields news until the signal aborts. Never throws ClientError: each failure is reported, and retried. */
export async function* followOffice(
  address: Address,
  path: string,
  { lastEventId = null, retryDelaysMs = RETRY_DELAYS_MS, signal }: FollowOptions,
): AsyncGenerator<OfficeNews, void, undefined> {
  let last = lastEventId;
  let tries = 0;
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    const startedAt = performance.now();
    let hasReceived = false;
    let failure = new ClientError({ kind: 'lost' }, 'The daemon ended the stream.');
    try {
      for await (const news of connect(address, path, last, signal)) {
        if (news.kind === 'event') hasReceived = true;
        last = cursorAfter(news, last);
        yield news;
      }
    } catch (error) {
      if (isOver()) return;
      if (!(error instanceof ClientError)) throw error;
      failure = error;
    }
    if (hasReceived || performance.now() - startedAt > HEALTHY_MS) tries = 0;
    const retryMs = delayFor(failure, tries, retryDelaysMs);
    tries += 1;
    yield { kind: 'lost', failure, retryMs };
    await sleep(retryMs, undefined, signal && { signal }).catch(() => undefined);
  }
}

function cursorAfter(news: OfficeNews, last: string | null): string | null {
  // Words come after events that are newer than they are.
  if (news.kind === 'event') return news.event.type === 'run.words' ? last : String(news.event.id);
  return news.kind === 'reset' ? news.id : last;
}

/** A refusal does not pass in a moment. */
function delayFor(failure: ClientError, tries: number, delaysMs: readonly number[]): number {
  const longest = delaysMs.at(-1) ?? 0;
  return isTransient(failure) ? (delaysMs[tries] ?? longest) : longest;
}

async function* connect(
  address: Address,
  path: string,
  lastEventId: string | null,
  signal: AbortSignal | undefined,
): AsyncGenerator<OfficeNews, void, undefined> {
  const reply = await openStream(address, {
    method: 'GET',
    path,
    headers: { accept: 'text/event-stream', ...(lastEventId !== null && { 'last-event-id': lastEventId }) },
    ...(signal && { signal }),
  });
  const trace = traceOf(reply);
  try {
    yield { kind: 'open', resumed: lastEventId !== null };
    for await (const { id, event, data } of readEvents(withIdleTimeout(reply))) {
      // The daemon ends its streams when it restarts.
      if (event === 'error') return;
      yield event === 'reset' ? { kind: 'reset', id } : { kind: 'event', event: parseEvent(data) };
    }
  } catch (error) {
    const lost = lostWhile(error, trace);
    throw isClientFailure(lost, 'malformed') || lost.name === 'AbortError'
      ? lost
      : new ClientError({ kind: 'lost' }, lost.message, { cause: error });
  } finally {
    reply.destroy();
  }
}

function parseEvent(data: string): OfficeEvent {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch (cause) {
    throw notErrand(cause);
  }
  if (isJsonObject(event) && typeof event['id'] === 'number' && isJsonObject(event['payload'])) {
    return event as unknown as OfficeEvent;
  }
  throw notErrand();
}

const notErrand = (cause?: unknown) =>
  new ClientError({ kind: 'malformed' }, 'What answers there is not an Errand daemon.', { cause });
