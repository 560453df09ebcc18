// Reads what the time line of a run is made from. The journal is read in parts, however long the run's text is.
import type { CallPurpose } from '../../domain/sessions/call-timing.ts';
import type { CallEnding } from '../../domain/sessions/model-call.ts';
import { makeTimeline } from '../../domain/sessions/timeline/make-timeline.ts';
import type { Pause } from '../../domain/loop/slices.ts';
import type { Run } from '../../domain/sessions/run.ts';
import {
  type Aftermath,
  AFTERMATH,
  type LedgerCall,
  type Milestone,
  MILESTONES,
  type ToolRow,
} from '../../domain/sessions/timeline/rows.ts';
import { MAX_SPANS, type Timeline } from '../../domain/sessions/timeline/timeline.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { payloadOf } from '../journal/events.ts';

/** Events that one read looks at. */
const PART = 500;
/** A worker that is stopped has ended by then. */
const STOPPING_MS = 600_000;
/** Of a call's arguments: enough for the name of a sub-agent. */
const INPUT_CHARACTERS = 400;

const quoted = (types: readonly string[]) => types.map((type) => `'${type}'`).join(', ');

const MILESTONES_OF = `SELECT type, payload, created_at AS at FROM events
  WHERE run_seq = ? AND stream_seq > ? AND stream_seq <= ? AND type <> 'content_block_delta' AND type IN (${quoted(MILESTONES)})
  ORDER BY stream_seq`;

const NEWEST = `SELECT stream_seq AS newest FROM events WHERE run_seq = ? AND type <> 'content_block_delta'
  ORDER BY stream_seq DESC LIMIT 1`;

// The expression is that of an index, see migration 31.
const AFTERMATH_OF = `SELECT type, created_at AS at FROM events
  WHERE session_seq = ? AND run_seq IS NULL AND payload ->> '$.runId' = ? AND type IN (${quoted(AFTERMATH)}) ORDER BY id LIMIT 10`;

const CALLS = `SELECT at, model, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens, cost_usd, purpose, step, agent,
    estimated, outcome, tries, commit_wait_ms, coalesce(budget_wait_ms, 0) AS budgetWaitMs, permit_wait_ms, retry_wait_ms,
    first_token_ms, duration_ms
  FROM usage_records WHERE session_seq = ? AND at >= ? AND at <= ? AND run_seq = ? ORDER BY seq LIMIT ?`;

const TOOLS = `SELECT step, tool_use_id, name, state, substr(input, 1, ${INPUT_CHARACTERS}) AS input
  FROM tool_calls WHERE run_seq = ? ORDER BY step, position LIMIT ?`;

/** The runs of a session are executed in order. */
const SESSION_FREE = `SELECT finished_at AS at FROM runs WHERE session_seq = ? AND seq < ? ORDER BY seq DESC LIMIT 1`;

interface MilestoneRow {
  readonly type: Milestone['type'];
  readonly payload: string;
  readonly at: number;
}

interface CallRow {
  readonly at: number;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number;
  readonly purpose: CallPurpose | null;
  readonly step: number | null;
  readonly agent: string | null;
  readonly estimated: number;
  readonly outcome: CallEnding;
  readonly tries: number | null;
  readonly commitWaitMs: number;
  readonly budgetWaitMs: number;
  readonly permitWaitMs: number;
  readonly retryWaitMs: number;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}

/** The run of a time line, as its rows are found. */
type TimelineOf = Pick<Run, 'seq' | 'id' | 'sessionSeq' | 'createdAt' | 'finishedAt' | 'status'>;

interface TimelineRest {
  readonly calls: readonly LedgerCall[];
  readonly tools: readonly ToolRow[];
  readonly aftermath: readonly Aftermath[];
  readonly sessionFreeAt: number | null;
}

/** `rest` is null while there are more milestones to read. */
interface TimelineStart {
  readonly newest: number;
  readonly milestones: readonly Milestone[];
  readonly rest: TimelineRest | null;
}

export type TimelineVerbs = ReturnType<typeof makeTimelineVerbs>;

/** The verbs. `readTimeline` calls them. */
export function makeTimelineVerbs({ read }: Database) {
  return {
    /** The first milestones of a run, and the number of its newest event but text. With all of them there, everything else, too. */
    beginTimeline: read(function* (tx: Reader, run: TimelineOf): Step<TimelineStart> {
      const newest = (yield* tx.get<{ newest: number }>(NEWEST, run.seq))?.newest ?? 0;
      const milestones = yield* milestonesIn(tx, run.seq, 0);
      return { newest, milestones, rest: newest > PART ? null : yield* restIn(tx, run, milestones) };
    }),

    /** The milestones in the part of a run's events that is behind one. */
    listMilestones: read(milestonesIn),

    /** Everything else, in one read: calls of the model, tools, and what came of the files. */
    timelineRest: read(restIn),

    /** The trace that the request of a run belongs to, as its header; null without. */
    findTraceParent: read(function* (tx: Reader, runSeq: number): Step<string | null> {
      const sql = 'SELECT trace_parent AS parent FROM runs WHERE seq = ?';
      return (yield* tx.get<{ parent: string | null }>(sql, runSeq))?.parent ?? null;
    }),
  };
}

function* milestonesIn(tx: Reader, runSeq: number, after: number): Step<Milestone[]> {
  const rows = yield* tx.all<MilestoneRow>(MILESTONES_OF, runSeq, after, after + PART);
  return rows.map((row) => ({ ...row, payload: payloadOf(row) as never }));
}

function* restIn(tx: Reader, run: TimelineOf, milestones: readonly Milestone[]): Step<TimelineRest> {
  const { from, to } = momentsOf(run, milestones);
  const calls = yield* tx.all<CallRow>(CALLS, run.sessionSeq, from, to, run.seq, MAX_SPANS + 1);
  const tools = yield* tx.all<ToolRow>(TOOLS, run.seq, MAX_SPANS + 1);
  const aftermath = yield* tx.all<Aftermath>(AFTERMATH_OF, run.sessionSeq, run.id);
  const before = yield* tx.get<{ at: number | null }>(SESSION_FREE, run.sessionSeq, run.seq);
  return { calls: calls.map(toCall), tools, aftermath, sessionFreeAt: freeAt(before) };
}

/** A step of the wall clock may have put some before the run's acceptance. */
function momentsOf(run: TimelineOf, milestones: readonly Milestone[]): { readonly from: number; readonly to: number } {
  const moments = [run.createdAt, ...milestones.map(({ at }) => at)];
  const from = moments.reduce((least, at) => Math.min(least, at));
  const last = moments.reduce((most, at) => Math.max(most, at));
  // The last call of a stopped run is recorded when its worker has ended.
  const end = run.status === 'canceled' ? run.finishedAt! + STOPPING_MS : (run.finishedAt ?? Infinity);
  return { from, to: Math.min(Math.max(end, last), Number.MAX_SAFE_INTEGER) };
}

function freeAt(before: { readonly at: number | null } | undefined): number | null {
  return before === undefined ? null : (before.at ?? Infinity);
}

function toCall(row: CallRow): LedgerCall {
  const { at, model, costUsd, purpose, step, agent, outcome } = row;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = row;
  const { tries, commitWaitMs, budgetWaitMs, permitWaitMs, retryWaitMs, firstTokenMs, durationMs } = row;
  const waits = { commitWaitMs, budgetWaitMs, permitWaitMs, retryWaitMs };
  const timing = tries === null ? null : { tries, ...waits, firstTokenMs, durationMs };
  const usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  return { at, model, usage, estimated: row.estimated === 1, costUsd, purpose, step, agent, outcome, timing };
}

/** The time line of a run as it is now. Most are one read; a long journal is read in parts, so that no commit waits for it. */
export async function readTimeline(verbs: TimelineVerbs, run: Run, pause: Pause): Promise<Timeline> {
  const start = await verbs.beginTimeline(run);
  const milestones = [...start.milestones];
  for (let after = PART; after < start.newest && milestones.length <= MAX_SPANS; after += PART) {
    await pause();
    milestones.push(...(await verbs.listMilestones(run.seq, after)));
  }
  await pause();
  const rest = start.rest ?? (await verbs.timelineRest(run, milestones));
  await pause();
  const truncated = [milestones, rest.calls, rest.tools].some(({ length }) => length > MAX_SPANS);
  return makeTimeline({ run, milestones, ...rest, truncated });
}
