// Follows a run's journal to its end, across as many connections as it takes.
import type { IncomingMessage } from 'node:http';
import { type EventType, TERMINAL_EVENTS } from '../../domain/sessions/journal-event.ts';
import type { JournalEventWire } from '../../wire/journal-event.ts';
import { ClientError, isClientFailure } from '../transport/client-error.ts';
import { readEvents } from '../transport/event-stream.ts';
import { makeReconnectBackoff } from '../transport/reconnect-backoff.ts';
import { withIdleTimeout, openStream, retry } from '../transport/stream-connection.ts';
import { lostWhile, traceOf, type Address, type Call } from '../transport/transport.ts';

export interface TailOptions {
  /** Called before each try to rejoin. */
  readonly onRetry?: (tries: number) => void;
  readonly retryDelaysMs?: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/** Yields the events of a run from its first one; ends after the one that ends the run. Throws ClientError. */
export async function* tailRun(
  address: Address,
  runId: string,
  { onRetry, retryDelaysMs, signal }: TailOptions,
): AsyncGenerator<JournalEventWire, void, undefined> {
  const backoff = makeReconnectBackoff((attempts) => onRetry?.(attempts), retryDelaysMs, signal);
  let lastEventId: string | null = null;
  let reply: IncomingMessage = await openStream(address, callFor(runId, lastEventId, signal));
  for (;;) {
    const trace = traceOf(reply);
    try {
      for await (const { id, event, data } of readEvents(withIdleTimeout(reply))) {
        // The daemon ends its streams when it restarts; the run continues.
        if (event === 'error') break;
        lastEventId = id ?? lastEventId;
        backoff.reset();
        yield parseEvent(data);
        if (TERMINAL_EVENTS.has(event as EventType)) return;
      }
    } catch (error) {
      const lost = lostWhile(error, trace);
      if (signal?.aborted === true || !isClientFailure(lost, 'lost')) throw lost;
    } finally {
      reply.destroy();
    }
    const lost = new ClientError({ kind: 'lost' }, 'The connection was lost; the run continues in the daemon.');
    reply = await retry(backoff, () => openStream(address, callFor(runId, lastEventId, signal)), lost);
  }
}

function callFor(runId: string, lastEventId: string | null, signal: AbortSignal | undefined): Call {
  return {
    method: 'GET',
    path: `/api/v1/runs/${encodeURIComponent(runId)}/stream`,
    headers: { accept: 'text/event-stream', ...(lastEventId !== null && { 'last-event-id': lastEventId }) },
    ...(signal && { signal }),
  };
}

function parseEvent(data: string): JournalEventWire {
  try {
    return JSON.parse(data) as JournalEventWire;
  } catch (cause) {
    throw new ClientError({ kind: 'malformed' }, 'What answers there is not an Errand daemon.', { cause });
  }
}
