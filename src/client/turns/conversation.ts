// One turn with the agent. A broken stream is rejoined where it broke; meanwhile, the run continues in the daemon.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ClientError, isClientFailure, type FailureTrace } from '../transport/client-error.ts';
import { readEvents } from '../transport/event-stream.ts';
import { exchange } from '../transport/exchange.ts';
import type { MessageWire } from '../../wire/messages/message.ts';
import type { MessagesRequest } from '../../wire/messages/request.ts';
import { type Named, namingWhat } from '../named-not-found.ts';
import { type ConversationEvent, readConversationEvent, readMessage } from './messages.ts';
import { makeReconnectBackoff, type ReconnectBackoff } from '../transport/reconnect-backoff.ts';
import { withIdleTimeout, openStream, retry } from '../transport/stream-connection.ts';
import { lostWhile, traceOf, type Address, type Call } from '../transport/transport.ts';

/** What to ask, with whose key, and how long to keep trying. */
export interface Ask {
  readonly apiKey: string;
  /** Whom the key stands for, where it is a user's name in place of one. */
  readonly username?: string | undefined;
  readonly model: string;
  readonly text: string;
  readonly sessionId?: string | undefined;
  /** Called before each try to rejoin. */
  readonly onRetry?: (tries: number) => void;
  /** Pauses before the tries to rejoin; after the last the connection counts as lost. */
  readonly retryDelaysMs?: readonly number[];
  /** Silence after which a stream counts as broken; the daemon pings far more often (C10). */
  readonly idleTimeoutMs?: number;
}

/** An answer in progress. `events` ends after `message_stop` and throws ClientError when the run fails. */
export interface Conversation {
  readonly sessionId: string | null;
  readonly runId: string | null;
  readonly events: AsyncGenerator<ConversationEvent, void, undefined>;
  /** The reply as it is without a stream, with the final answer alone. Waits for it, so ask behind the last event. */
  whole(): Promise<MessageWire>;
}

export interface Messages {
  /** Resolves as soon as the turn is accepted. */
  stream(ask: Ask): Promise<Conversation>;
}

/** The Messages protocol over an address. `signal` ends the waiting, never the run (C7). */
export function makeMessages(address: Address, signal?: AbortSignal): Messages {
  const backoffFor = (ask: Ask) =>
    makeReconnectBackoff((attempts) => ask.onRetry?.(attempts), ask.retryDelaysMs, signal);
  return {
    async stream(ask) {
      const call = turnCall(ask, signal);
      const backoff = backoffFor(ask);
      const reply = await sendTurn(ask, backoff, () => openStream(address, call));
      const { sessionId = null, runId = null } = traceOf(reply);
      return {
        sessionId,
        runId,
        events: follow({ address, ask, backoff, signal }, reply),
        // A repeated turn finds its run.
        whole: async () => {
          const again = { ...call, body: { ...call.body, stream: false }, headers: {} };
          return readMessage((await sendTurn(ask, backoff, () => exchange(address, again))).body);
        },
      };
    },
  };
}

function turnCall(ask: Ask, signal: AbortSignal | undefined) {
  const body = {
    model: ask.model,
    stream: true,
    idempotency_key: randomUUID(),
    messages: [{ role: 'user', content: ask.text }],
    ...(ask.sessionId !== undefined && { metadata: { session_id: ask.sessionId } }),
  } satisfies MessagesRequest;
  return {
    method: 'POST',
    path: '/openapi/v1/messages',
    body,
    token: ask.apiKey,
    headers: STREAM_HEADERS,
    ...(signal && { signal }),
  } satisfies Call;
}

const STREAM_HEADERS = { accept: 'text/event-stream', 'x-stream-tool-events': 'true' };

/** A turn whose connection broke is sent again under the same idempotency key: the daemon finds the run it began. */
async function sendTurn<T>(ask: Ask, backoff: ReconnectBackoff, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt().catch((error: unknown) => {
      if (!isClientFailure(error, 'lost')) throw error;
      return retry(backoff, attempt, error);
    });
  } catch (error) {
    throw namingWhat(error, namedIn(ask));
  }
}

function namedIn({ sessionId, username }: Ask): readonly Named[] {
  return [
    ...(sessionId === undefined ? [] : [{ reference: sessionId, noun: 'sessions' as const }]),
    ...(username === undefined ? [] : [{ reference: username, noun: 'users' as const }]),
  ];
}

interface Following {
  readonly address: Address;
  readonly ask: Ask;
  readonly backoff: ReconnectBackoff;
  readonly signal: AbortSignal | undefined;
}

/** The events of a run from its first reply to its end, across as many connections as it takes. */
async function* follow(
  following: Following,
  first: IncomingMessage,
): AsyncGenerator<ConversationEvent, void, undefined> {
  const trace = traceOf(first);
  let reply = first;
  let lastEventId: string | null = null;
  for (;;) {
    try {
      for await (const event of readEvents(withIdleTimeout(reply, following.ask.idleTimeoutMs))) {
        lastEventId = event.id ?? lastEventId;
        const read = readConversationEvent(event, trace);
        if (read === undefined) continue;
        following.backoff.reset();
        yield read;
        if (read.type === 'message_stop') return;
      }
    } catch (error) {
      const lost = lostWhile(error, trace);
      if (following.signal?.aborted === true || !isClientFailure(lost, 'lost')) throw lost;
    } finally {
      reply.destroy();
    }
    // Also after a stream that ended cleanly but too early, such as when the daemon restarts.
    reply = await rejoin(following, trace, lastEventId);
  }
}

async function rejoin(following: Following, trace: FailureTrace, lastEventId: string | null): Promise<IncomingMessage> {
  const { address, ask, backoff, signal } = following;
  const lost = new ClientError({ kind: 'lost' }, 'The connection was lost; the run continues in the daemon.', {
    trace,
  });
  if (trace.runId === undefined) throw lost;
  const call: Call = {
    method: 'GET',
    path: `/openapi/v1/runs/${encodeURIComponent(trace.runId)}/stream`,
    token: ask.apiKey,
    headers: { ...STREAM_HEADERS, ...(lastEventId !== null && { 'last-event-id': lastEventId }) },
    ...(signal && { signal }),
  };
  return await retry(backoff, () => openStream(address, call), lost);
}
