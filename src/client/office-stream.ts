// Follows one of Office Mode's streams for as long as anyone looks on: it outlives restarts, refusals and silence.
import { isJsonObject } from '../domain/json.ts';
import type { OfficeEventWire } from '../wire/journal-event.ts';
import type { RunWords } from '../wire/office/stream.ts';
import { ClientError, isTransient } from './transport/client-error.ts';
import { type OpenedStream, type OpenStream, readEvents } from './transport/event-stream.ts';
import { pause } from './transport/pause.ts';

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
  open: OpenStream,
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
      for await (const news of connect(await open(last, signal), last !== null)) {
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
    await pause(retryMs, signal);
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
  { chunks, lost, close }: OpenedStream,
  resumed: boolean,
): AsyncGenerator<OfficeNews, void, undefined> {
  try {
    yield { kind: 'open', resumed };
    for await (const { id, event, data } of readEvents(chunks)) {
      // The daemon ends its streams when it restarts.
      if (event === 'error') return;
      yield event === 'reset' ? { kind: 'reset', id } : { kind: 'event', event: parseEvent(data) };
    }
  } catch (error) {
    throw lost(error);
  } finally {
    close();
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
