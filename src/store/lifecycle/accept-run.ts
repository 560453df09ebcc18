// Accepts a turn: session, user message, attachments and queued run in one transaction, or the run of an earlier request.
import { textOf, type UserBlock } from '../../domain/sessions/content.ts';
import type { Contents } from '../../domain/sessions/contents.ts';
import type { JsonObject } from '../../domain/json.ts';
import { jsonPieces } from '../../domain/long-json.ts';
import { inOwnTurn, LONG_TEXT, ownTurn } from '../../domain/loop/own-turn.ts';
import type { Link } from '../../domain/sessions/continued/history-chain.ts';
import type { Protocol, ResponseEcho, ResultTool, Run } from '../../domain/sessions/run.ts';
import type { Session, SessionSetup } from '../../domain/sessions/session.ts';
import { admitBackground, type BackgroundLimits, type BackgroundRefusal } from '../runs/admit-background.ts';
import type { UsedUp } from '../../domain/budgets/budget.ts';
import { findUsedUp } from '../budgets/budget-rows.ts';
import type { BudgetKit } from '../budgets/budget-kit.ts';
import { COMMITTED, type Database, type Scope } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { insertRun, type NewRun } from '../runs/insert-run.ts';
import { estimatePrompt } from '../runs/prompt-size.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { findOverQuota } from '../sessions/workspace-space.ts';
import { insertAttachments, insertUserMessage, type NewAttachment } from '../sessions/user-message.ts';
import { IS_UNFINISHED } from '../runs/run-states.ts';
import type { Replay, Submission } from './submissions.ts';
import { isPlace, isStopping, type PlaceOfTurn, placeOfTurn, sessionOf } from './session-of-turn.ts';
import { type PlannedStart, planStart, targetOf } from './plan-start.ts';
import { type Claim, emitStarted, type FreshTurn, type StartInput } from './start-run.ts';

export interface NewTurn extends Submission {
  readonly protocol: Protocol;
  readonly requestedModel: string;
  /** What a Response repeats of its request; null in other protocols. */
  readonly response?: ResponseEcho | null;
  readonly includeUsage: boolean;
  /** The trace that its request belongs to, as the header says it. */
  readonly traceParent?: string | null;
  /** Schema of the result the run must submit; null when its answer is text. */
  readonly outputSchema: JsonObject | null;
  /** The reply has the result as its content. */
  readonly resultInContent: boolean;
  /** The tool of the client that the reply calls with the result; absent, or null: none. */
  readonly resultTool?: ResultTool | null;
  /** Null opens a new session with this title. */
  readonly sessionId: string | null;
  /** The number of that session; null where it wasn't looked up. */
  readonly sessionSeq: number | null;
  /** The run of that session that the turn follows: if it isn't the newest, the session is forked there (M2). Null for the newest. */
  readonly afterRunSeq?: number | null;
  readonly title: string;
  /** What its client says of the conversation. */
  readonly conversation?: ConversationNote;
  /** The setup of a new session; ignored when the session exists, or is forked. */
  readonly setup: SessionSetup;
  readonly content: readonly UserBlock[];
  readonly preview: string;
  readonly attachments: readonly NewAttachment[];
  /** The bytes of small attachments; absent: they are stored. */
  readonly contents?: Contents;
  /** The space that workspaces of the user may take; 0 for any. */
  readonly userQuotaBytes: number;
  /** Whether every node that executes runs drains: none is accepted then (§8). */
  readonly allDrain: boolean;
  /** Present when a worker slot is kept for it, so that a run that is next starts at once (C5). */
  readonly start: StartInput | null;
  /** Present for a background run, with the limits it is admitted under. */
  readonly background: { readonly payload: string | null; readonly limits: BackgroundLimits } | null;
}

/** What is kept of it (M1): its name and whether nobody comes back count for a new session, `history` for the run. */
export interface ConversationNote {
  readonly clientName: string | null;
  readonly isThrowAway: boolean;
  readonly history: Link | null;
}

/** `session_gone`: the session was deleted, or its key changed, since it was looked up. `unfinished`: the run that it would be forked at has not ended. */
export type Acceptance =
  | { readonly kind: 'accepted'; readonly session: Session; readonly run: Run; readonly claim: Claim | null }
  | Replay
  | { readonly kind: 'over_budget'; readonly budget: UsedUp }
  | { readonly kind: 'over_quota'; readonly usedBytes: number }
  | { readonly kind: 'session_gone' | 'unfinished' | 'all_drain' | BackgroundRefusal };

/**
 * The verb that accepts a turn (C5, C7, D4, D7). It resolves while the disk syncs it, so that a run that starts at once begins
 * meanwhile: nobody else may learn of it before `kept`.
 */
export function makeAcceptRun({ write }: Database, kit: BudgetKit): (turn: NewTurn) => Promise<Acceptance> {
  const accept = write((tx: Transaction, turn: NewTurn, content: string | Buffer) => acceptIn(tx, kit, turn, content), {
    ...COMMITTED,
    scope: scopeOf,
  });
  // With a long text, rendering and storing it both take time.
  return async (turn) => {
    if (charactersOf(turn.content) <= LONG_TEXT) return accept(turn, JSON.stringify(turn.content));
    const content = await rendered(turn.content);
    return inOwnTurn(async () => accept(turn, content));
  };
}

/** JSON of what takes long to render, as it is stored. Other work has its turns in between. */
async function rendered(content: readonly UserBlock[]): Promise<Buffer> {
  const bytes: Buffer[] = [];
  const pieces = jsonPieces(content);
  for (let characters = 0, next = pieces.next(); next.done !== true; next = pieces.next()) {
    if (characters === 0) await ownTurn();
    bytes.push(Buffer.from(next.value));
    characters += next.value.length;
    if (characters >= LONG_TEXT) characters = 0;
  }
  return Buffer.concat(bytes);
}

const charactersOf = (content: readonly UserBlock[]): number =>
  content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);

/**
 * A turn rests on its session, and a new one has nothing in common with others; but background runs are counted before they are admitted. What
 * else it reads, other turns only add to: space, budgets, and whether a run waits. Of turns that are accepted at once, either may be the first.
 */
function scopeOf({ sessionId, sessionSeq, background }: NewTurn): Scope {
  if (background !== null) return 'all';
  if (sessionId === null) return [];
  return sessionSeq === null ? 'all' : [sessionSeq];
}

/** `content`: the turn's content as stored. */
function* acceptIn(tx: Transaction, kit: BudgetKit, turn: NewTurn, content: string | Buffer): Step<Acceptance> {
  const place = yield* placeOfTurn(tx, turn);
  if (!isPlace(place)) return place;
  const { continued, fork } = place;
  const busy = continued !== undefined && (yield* hasUnfinishedRun(tx, continued.session.seq));
  const refused = yield* refusalOf(tx, kit, turn, busy);
  if (refused !== undefined) return refused;
  // Only a Messages stream reports it, and this turn must not be stored yet.
  const promptTokens = turn.protocol === 'messages' ? yield* promptOf(tx, turn, place) : null;
  const ready = !busy && !(continued !== undefined && isStopping(continued));
  const start = ready ? yield* planStart(tx, turn, place.known) : null;
  const session = yield* sessionOf(tx, turn, place, start);
  const opensSession = continued === undefined;
  const target = targetOf(turn, place.known);
  const run = yield* insertRun(tx, { ...runOf(turn, session, start), target, opensSession, ready, start });
  const message = { sessionSeq: session.seq, runSeq: run.seq, content, preview: turn.preview };
  yield* insertAttachments(
    tx,
    { userSeq: turn.user.seq, sessionSeq: session.seq, messageId: yield* insertUserMessage(tx, message) },
    { attachments: turn.attachments, contents: turn.contents },
  );
  yield* addToTotals(tx, session.seq, { messages: 1, runs: 1 });
  const payload = { scheduleMode: run.scheduleMode, ...(promptTokens !== null && { promptTokens }) };
  tx.emit(session.seq, run.seq, { type: 'run.queued', payload });
  if (start === null) return { kind: 'accepted', session, run, claim: null };
  const hasNothing = opensSession && fork === undefined;
  const started = {
    target,
    opensSession: hasNothing,
    outputSchema: turn.outputSchema,
    workspaceNode: start.workspaceNode,
    workedMs: 0,
    isBackgroundWork: false,
  };
  const claimed = { ...run, ...(hasNothing ? freshOf(turn, content) : {}), ...started };
  emitStarted(tx, claimed);
  return { kind: 'accepted', session, run, claim: { run: claimed, choice: start.choice } };
}

type Refusal = Exclude<Acceptance, { readonly run: Run }>;

/** What refuses a turn whose session is known. `busy`: that has an unfinished run. */
function* refusalOf(tx: Transaction, kit: BudgetKit, turn: NewTurn, busy: boolean): Step<Refusal | undefined> {
  const refusal =
    turn.background === null ? undefined : yield* admitBackground(tx, turn, { busy, ...turn.background.limits });
  if (refusal !== undefined) return { kind: refusal };
  const usedBytes = yield* findOverQuota(tx, turn.user.seq, turn.userQuotaBytes);
  if (usedBytes !== undefined) return { kind: 'over_quota', usedBytes };
  const budget = yield* findSpentBudget(tx, kit, turn);
  if (budget !== undefined) return { kind: 'over_budget', budget };
  return turn.allDrain ? { kind: 'all_drain' } : undefined;
}

function promptOf(tx: Transaction, { key, content }: NewTurn, { known, fork }: PlaceOfTurn): Step<number> {
  const place = { keySeq: key.seq, sessionSeq: known?.session.seq ?? null, characters: textOf(content).length };
  return estimatePrompt(tx, { ...place, afterRun: fork?.origins[0]?.untilRun });
}

/** A longer one isn't held while its run is in progress. */
const MAX_FRESH_CHARACTERS = 4_096;

function freshOf({ user, setup, content, attachments }: NewTurn, stored: string | Buffer): { fresh?: FreshTurn } {
  if (attachments.length > 0 || stored.length > MAX_FRESH_CHARACTERS) return {};
  const bytes = Buffer.byteLength(stored);
  return { fresh: { user: content, bytes, setup: { ...setup, userSeq: user.seq, workspaceRemovedAt: null } } };
}

function* findSpentBudget(tx: Transaction, { inForce, periodOf }: BudgetKit, turn: NewTurn): Step<UsedUp | undefined> {
  if (!(yield* inForce.any(tx))) return undefined;
  const { user, key } = turn;
  const { teamId } = (yield* tx.get<{ teamId: string | null }>(TEAM_OF_USER, user.seq))!;
  return yield* findUsedUp(tx, { keySeq: key.seq, userSeq: user.seq, teamId }, tx.now, periodOf);
}

/** As it is now: the caller was looked up before. */
const TEAM_OF_USER = 'SELECT team_id FROM users WHERE seq = ?';

type RunOfTurn = Omit<NewRun, 'target' | 'opensSession' | 'ready' | 'start'>;

function runOf(turn: NewTurn, session: Session, start: PlannedStart | null): RunOfTurn {
  return {
    sessionSeq: session.seq,
    sessionId: session.id,
    userSeq: turn.user.seq,
    keySeq: turn.key.seq,
    protocol: turn.protocol,
    scheduleMode: turn.background !== null ? 'background' : start === null ? 'queued' : 'immediate',
    requestedModel: turn.requestedModel,
    includeUsage: turn.includeUsage,
    backgroundPayload: turn.background?.payload ?? null,
    response: turn.response ?? null,
    outputSchema: turn.outputSchema,
    resultInContent: turn.resultInContent,
    resultTool: turn.resultTool ?? null,
    idempotencyKey: turn.idempotencyKey,
    traceParent: turn.traceParent ?? null,
    history: turn.conversation?.history ?? null,
  };
}

function* hasUnfinishedRun(tx: Transaction, sessionSeq: number): Step<boolean> {
  const found = yield* tx.get(`SELECT 1 FROM runs WHERE session_seq = ? AND ${IS_UNFINISHED} LIMIT 1`, sessionSeq);
  return found !== undefined;
}
