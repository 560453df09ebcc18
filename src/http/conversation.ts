// A turn over HTTP, in either protocol: accepted, then waited for or streamed; and a run's stream rejoined.
import type { IncomingMessage } from 'node:http';
import { ErrandError, unprocessable } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Run } from '../domain/run.ts';
import type { Settings } from '../domain/settings.ts';
import type { KeyCaller } from '../domain/user.ts';
import { parseChatRequest, renderCompletion } from './chat-wire.ts';
import type { ContentLimits } from './content-wire.ts';
import { type Exchange, idInPath, queryValue } from './exchange.ts';
import { parseMessagesRequest, renderMessage } from './messages-wire.ts';
import type { Operations } from '../operations/operations.ts';
import { type ErrorShape, errorBody } from './render-error.ts';
import type { Reply } from './reply.ts';
import { failureOfRun } from './run-failure.ts';
import type { OpenRunStream } from './run-stream.ts';
import type { TurnRequest } from './turn-wire.ts';

/** What a protocol adds to a turn. */
interface ConversationWire {
  readonly shape: ErrorShape;
  parse(body: JsonObject, limits: ContentLimits): TurnRequest;
  render(run: Run): object;
}

const MESSAGES: ConversationWire = { shape: 'bare', parse: parseMessagesRequest, render: renderMessage };
const CHAT: ConversationWire = { shape: 'chat', parse: parseChatRequest, render: renderCompletion };

const RETRY_AFTER_SECONDS = '5';
// Both official clients repeat a failed request unless told not to, and a repeated turn is a second run.
const NO_RETRY = 'X-Should-Retry';

export interface ConversationParts {
  readonly operations: Operations;
  readonly openStream: OpenRunStream;
  readonly settings: () => Settings;
}

type KeyHandler = (exchange: Exchange, caller: KeyCaller) => Promise<Reply | undefined>;

export interface Conversations {
  readonly messages: KeyHandler;
  readonly chat: KeyHandler;
  readonly rejoin: KeyHandler;
}

/** The handlers of both conversation endpoints and of the stream of a run. */
export function makeConversations({ operations, openStream, settings }: ConversationParts): Conversations {
  async function converse(wire: ConversationWire, exchange: Exchange, caller: KeyCaller): Promise<Reply | undefined> {
    const request = wire.parse(exchange.body, { maxUploadBytes: settings().maxUploadSizeMb * 1024 * 1024 });
    const { run } = await operations.acceptTurn(caller, request.input);
    const { req, res } = exchange;
    res.setHeader('X-Session-Id', run.sessionId);
    res.setHeader('X-Run-Id', run.id);
    if (request.stream) {
      openStream(res, run, { afterId: 0, ids: hasFlag(req, 'x-stream-event-ids'), tools: wantsTools(req) });
      return undefined;
    }
    // A repeated request with an idempotency key finds this run again, so waiting once more is safe.
    if (request.input.idempotencyKey === null) res.setHeader(NO_RETRY, 'false');
    const ended = await awaitResult(run, exchange);
    res.removeHeader(NO_RETRY);
    return answerOf(ended, wire);
  }

  /** The client's leaving ends the wait, never the run (C7). */
  async function awaitResult(run: Run, { res }: Exchange): Promise<Run> {
    const wait = new AbortController();
    const leave = () => wait.abort();
    res.once('close', leave);
    if (res.destroyed) leave();
    try {
      return await operations.awaitResult(run, wait.signal);
    } catch (error) {
      if (!wait.signal.aborted) throw error;
      throw new ErrandError('unavailable', 'The client left.', { cause: error });
    } finally {
      res.off('close', leave);
    }
  }

  return {
    messages: (exchange, caller) => converse(MESSAGES, exchange, caller),
    chat: (exchange, caller) => converse(CHAT, exchange, caller),
    rejoin: async (exchange, caller) => {
      const runId = idInPath(exchange, 'Run');
      const afterId = readPosition(exchange);
      const run = await operations.findRunToFollow(caller, runId);
      exchange.res.setHeader('X-Session-Id', run.sessionId);
      exchange.res.setHeader('X-Run-Id', run.id);
      openStream(exchange.res, run, { afterId, ids: true, tools: wantsTools(exchange.req) });
      return undefined;
    },
  };
}

function answerOf(run: Run, wire: ConversationWire): Reply {
  const failure = failureOfRun(run);
  if (failure === null) return { status: 200, body: wire.render(run) };
  const headers: Record<string, string> = { [NO_RETRY]: 'false' };
  if (failure.status === 504) headers['Retry-After'] = RETRY_AFTER_SECONDS;
  return { status: failure.status, headers, body: errorBody(failure, wire.shape) };
}

/** The journal id after which a rejoined stream goes on: the larger of the header and the query, which may lag behind. */
function readPosition(exchange: Exchange): number {
  const header = exchange.req.headers['last-event-id'];
  return Math.max(
    eventId(typeof header === 'string' ? header : null, 'Last-Event-ID'),
    eventId(queryValue(exchange, 'after'), 'after'),
  );
}

function eventId(text: string | null, name: string): number {
  if (text === null || text === '') return 0;
  const id = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw unprocessable(name, 'must be an event id: an integer from 0');
  return id;
}

function wantsTools(req: IncomingMessage): boolean {
  return hasFlag(req, 'x-stream-tool-events');
}

function hasFlag(req: IncomingMessage, header: string): boolean {
  return req.headers[header] === 'true';
}
