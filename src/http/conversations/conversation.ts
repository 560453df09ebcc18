// A turn over HTTP, in any protocol: accepts it, then waits or streams; and rejoins a run's stream.
import { MB } from '../../domain/byte-units.ts';
import { type Halt, makeHalt } from '../../domain/halt.ts';
import type { ServerResponse } from 'node:http';
import { ErrandError, type ErrorReason } from '../../domain/errors.ts';
import { continueByOf } from '../../domain/sessions/continued/continue-by.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Settings } from '../../domain/settings.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import { backgroundReply } from './background-wire.ts';
import { readChatTurn, renderCompletion } from './chat-wire.ts';
import type { ContentParts } from './reading/content-wire.ts';
import type { WatchCredential } from '../frame/credential-watch.ts';
import type { Exchange } from '../frame/exchange.ts';
import { type Headers, setHeaders } from '../replies/head.ts';
import { type ConversationRequest, readConversation } from './reading/conversation-so-far.ts';
import { readMessagesTurn, renderMessage } from './messages-wire.ts';
import { messagesIn, readResponsesTurn, renderResponse } from './responses-wire.ts';
import type { BackgroundRun } from '../../operations/turns/runs.ts';
import type { Conversation } from '../../operations/turns/turn.ts';
import type { Operations } from '../../operations/operations.ts';
import { positionInRequest, readHeaders } from '../frame/query.ts';
import { errorBody, NO_RETRY } from '../replies/render-error.ts';
import type { ErrorShape, ErrorWire } from '../../wire/error.ts';
import { ok, type Reply } from '../replies/reply.ts';
import type { CompletionWire } from '../../wire/chat/completion.ts';
import type { ChatRequest } from '../../wire/chat/request.ts';
import type { BackgroundMessageWire, ConversationReplyWire, TokenCountWire } from '../../wire/messages/message.ts';
import type { MessagesRequest } from '../../wire/messages/request.ts';
import type { ResponsesRequest } from '../../wire/responses/request.ts';
import type { ResponseWire } from '../../wire/responses/response.ts';
import type { followQuery } from '../../wire/shapes/query.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import { rejoinHeaders, turnHeaders } from '../../wire/conversations/headers.ts';
import { nameRun } from './name-run.ts';
import { failureOfRun } from './run-failure.ts';
import type { OpenRunStream } from './streams/run-stream.ts';
import { makeTurnText } from './reading/turn-text.ts';
import type { IgnoredPart, TurnHeaders, TurnRequest } from './reading/turn-wire.ts';

/** What a protocol adds to a turn. */
interface ConversationWire<B, R extends object> {
  readonly shape: ErrorShape;
  read(request: B, parts: ContentParts, headers: TurnHeaders): Promise<TurnRequest>;
  render(run: Run): R;
  /** What says of the conversation that it belongs to. */
  said(request: B): Pick<ConversationRequest, 'messages' | 'metadata'>;
  /** The reply to a submission; absent where no run is in the background. */
  submitted?(found: BackgroundRun): Reply<R>;
}

const said = ({ messages, metadata }: MessagesRequest | ChatRequest) => ({ messages, metadata: metadata?.said ?? {} });

const MESSAGES: ConversationWire<MessagesRequest, ConversationReplyWire> = {
  shape: 'bare',
  read: readMessagesTurn,
  said,
  render: renderMessage,
  submitted: (found) => backgroundReply(202, found),
};
const CHAT: ConversationWire<ChatRequest, CompletionWire> = {
  shape: 'chat',
  read: readChatTurn,
  said,
  render: renderCompletion,
};

const RESPONSES: ConversationWire<ResponsesRequest, ResponseWire> = {
  shape: 'chat',
  read: readResponsesTurn,
  said: ({ input, metadata }) => ({ messages: messagesIn(input), metadata: metadata ?? {} }),
  render: (run) => renderResponse(run),
  submitted: ({ run }) => ok(renderResponse(run)),
};

const RETRY_AFTER_SECONDS = '5';

export interface ConversationParts {
  readonly operations: Operations;
  readonly openStream: OpenRunStream;
  readonly watchCredential: WatchCredential;
  readonly settings: () => Settings;
  /** What is kept of the header of a trace that a request belongs to; null for nothing. */
  readonly traceParentOf?: ((header: string | undefined) => string | null) | undefined;
}

/** A handler that replies, unless it streams. */
type KeyHandler<E extends Exchange, R extends object = never> = (
  exchange: E,
  caller: KeyCaller,
) => Promise<Reply<R> | undefined>;
type Turn<B> = Exchange<unknown, B>;
type Failure = ErrorWire<ErrorShape>;

export interface Conversations {
  readonly messages: KeyHandler<Turn<MessagesRequest>, ConversationReplyWire | Failure>;
  readonly chat: KeyHandler<Turn<ChatRequest>, CompletionWire | Failure>;
  readonly responses: KeyHandler<Turn<ResponsesRequest>, ResponseWire | Failure>;
  readonly countTokens: KeyHandler<Turn<MessagesRequest>, TokenCountWire>;
  readonly poll: KeyHandler<Exchange, BackgroundMessageWire>;
  rejoin(exchange: Exchange<Static<typeof followQuery>>, caller: KeyCaller, runId: string): Promise<undefined>;
}

/** What remains of a request once its turn is accepted. */
interface Accepted extends Pick<TurnRequest, 'stream'> {
  readonly run: Run;
  readonly headers: Static<typeof turnHeaders>;
  readonly isBackground: boolean;
  /** A repeated request with an idempotency key finds the run again. */
  readonly repeatable: boolean;
}

/** The handlers of both conversation endpoints and of the stream of a run. */
export function makeConversations({
  operations,
  openStream,
  settings,
  watchCredential,
  traceParentOf = () => null,
}: ConversationParts): Conversations {
  /** Accepts the turn. After that, nothing of the request is held, however long its answer takes. */
  async function accept<B>(wire: ConversationWire<B, object>, exchange: Turn<B>, caller: KeyCaller): Promise<Accepted> {
    const { res, takeRoom } = exchange;
    const { headers, input, stream, ignored } = await readTurn(wire, exchange, caller, settings());
    const traceParent = traceParentOf(exchange.req.headers['traceparent'] as string | undefined);
    const { run, replayed, historyTaken } = await whileThere(res, (left) =>
      operations.acceptTurn(caller, input, { left, takeRoom, traceParent }),
    );
    await exchange.letGoOfBody();
    nameRun(res, run);
    nameIgnored(res, historyTaken === true ? ignored.filter((part) => part !== 'history') : ignored);
    if (replayed) setHeaders(res, { 'Idempotency-Replayed': 'true' });
    return { run, headers, stream, isBackground: input.background !== null, repeatable: input.idempotencyKey !== null };
  }

  async function converse<B, R extends object>(
    wire: ConversationWire<B, R>,
    exchange: Turn<B>,
    caller: KeyCaller,
  ): Promise<Reply<R | Failure> | undefined> {
    const { res } = exchange;
    const { run, headers, stream, isBackground, repeatable } = await accept(wire, exchange, caller);
    if (isBackground && !stream) return wire.submitted?.(await operations.withPosition(caller, run));
    if (stream) {
      const { 'X-Stream-Event-Ids': ids, 'X-Stream-Tool-Events': tools } = headers;
      openStream(exchange, run, { afterId: 0, ids, tools });
      return undefined;
    }
    const ended = await awaitResult(caller, run, exchange).catch((error: unknown) => {
      if (!repeatable) setHeaders(res, NO_RETRY);
      throw withWayBack(error, run, repeatable);
    });
    return answerOf(ended, wire);
  }

  /** The wait ends when the client disconnects, and when its credential becomes invalid; the run continues (C7). */
  async function awaitResult(caller: KeyCaller, run: Run, { res, admit }: Exchange): Promise<Run> {
    const { promise: refused, reject } = Promise.withResolvers<never>();
    const unwatch = watchCredential(admit, reject);
    try {
      return await Promise.race([whileThere(res, (left) => operations.awaitResult(caller, run, left)), refused]);
    } finally {
      unwatch();
    }
  }

  return {
    countTokens: async (exchange, caller) => {
      const { input } = await readTurn(MESSAGES, exchange, caller, settings());
      return ok({ input_tokens: await operations.countTokens(caller, input) });
    },
    messages: (exchange, caller) => converse(MESSAGES, exchange, caller),
    chat: (exchange, caller) => converse(CHAT, exchange, caller),
    responses: (exchange, caller) => converse(RESPONSES, exchange, caller),
    ...makeLookUps({ operations, openStream }),
  };
}

/** The turn that a request asks for, and which parts of it have no effect; `history` may have, which its place decides. */
async function readTurn<B>(
  wire: Pick<ConversationWire<B, object>, 'read' | 'said'>,
  exchange: Turn<B>,
  caller: KeyCaller,
  { maxUploadSizeMb, limits }: Pick<Settings, 'maxUploadSizeMb' | 'limits'>,
) {
  const headers = readHeaders(exchange.req, turnHeaders);
  const { spooled } = exchange;
  const maxTextBytes = limits.maxTextMb * MB;
  const text = makeTurnText(spooled, maxTextBytes);
  const parts: ContentParts = { maxUploadBytes: maxUploadSizeMb * MB, maxTextBytes, spooled, text };
  const { input, stream, ignored } = await wire.read(exchange.body, parts, saidIn(headers));
  const conversation = await conversationOf(wire, exchange, caller, parts);
  return { headers, stream, input: { ...input, conversation }, ignored };
}

/** Null where the key's sessions are continued by their ids alone. */
async function conversationOf<B>(
  { said }: Pick<ConversationWire<B, object>, 'said'>,
  { req, body }: Turn<B>,
  { key }: KeyCaller,
  { spooled, maxTextBytes: maxCharacters }: ContentParts,
): Promise<Conversation | null> {
  const by = key.continueBy === null ? undefined : continueByOf(key.continueBy);
  if (by === undefined) return null;
  return readConversation(by, { ...said(body), headers: req.headers }, { spooled, maxCharacters });
}

const saidIn = (headers: Static<typeof turnHeaders>): TurnHeaders => ({
  idempotencyKey: headers['Idempotency-Key'] ?? null,
  sessionId: headers['Errand-Session-Id'] ?? null,
  offeredSession: headers['X-Session-Id'] ?? null,
});

/** The handlers of existing runs. */
function makeLookUps({
  operations,
  openStream,
}: Pick<ConversationParts, 'operations' | 'openStream'>): Pick<Conversations, 'poll' | 'rejoin'> {
  return {
    poll: async (exchange, caller) => {
      const found = await operations.pollRun(caller, exchange.params['id'] ?? '');
      nameRun(exchange.res, found.run);
      return backgroundReply(200, found);
    },
    rejoin: async (exchange, caller, runId) => {
      const afterId = positionInRequest(exchange);
      const run = await operations.followRun(caller, runId);
      nameRun(exchange.res, run);
      const { 'X-Stream-Tool-Events': tools } = readHeaders(exchange.req, rejoinHeaders);
      openStream(exchange, run, { afterId, ids: true, tools });
      return undefined;
    },
  };
}

/** Work that the client's disconnecting may end. */
async function whileThere<T>(res: ServerResponse, work: (left: Halt) => Promise<T>): Promise<T> {
  const left = makeHalt();
  const leave = () => left.halt();
  res.once('close', leave);
  if (res.destroyed) leave();
  try {
    return await work(left);
  } catch (error) {
    if (!left.isHalted) throw error;
    throw new ErrandError('unavailable', 'The client left.', { cause: error });
  } finally {
    res.off('close', leave);
  }
}

/** Reasons that make the run unreachable. */
const REFUSALS: ReadonlySet<ErrorReason> = new Set(['unauthenticated', 'forbidden']);

/**
 * What the error of a wait that ended before its run adds: where to get the run's result, and whether to repeat the request.
 */
function withWayBack(error: unknown, run: Run, repeatable: boolean): unknown {
  if (!(error instanceof ErrandError) || REFUSALS.has(error.reason)) return error;
  const again = repeatable
    ? 'or repeat the request with its idempotency key.'
    : 'repeating the request would begin a second run.';
  const message = `${error.message} Its result comes at GET /openapi/v1/runs/${run.id}/stream; ${again}`;
  return new ErrandError(error.reason, message, { cause: error, details: error.details });
}

function nameIgnored(res: ServerResponse, ignored: readonly IgnoredPart[]): void {
  if (ignored.length > 0) setHeaders(res, { 'X-Errand-Ignored': ignored.join(', ') });
}

function answerOf<R extends object>(run: Run, wire: ConversationWire<never, R>): Reply<R | Failure> {
  const failure = failureOfRun(run);
  if (failure === null) return { status: 200, body: wire.render(run) };
  // After 429 the message says when the budget renews: that can be weeks away.
  const later: Headers = failure.status === 504 ? { 'Retry-After': RETRY_AFTER_SECONDS } : {};
  // A repeated turn is a second run.
  return { status: failure.status, headers: { ...NO_RETRY, ...later }, body: errorBody(failure, wire.shape) };
}
