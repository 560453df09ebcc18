// The ledger: a row for every model call, and its sums, written in the commit that records the reply.
import type { CallPurpose, CallTiming } from '../../domain/sessions/call-timing.ts';
import { quarterOf } from '../../domain/time-zone.ts';
import type { CallEnding } from '../../domain/sessions/model-call.ts';
import { type CallUsage, costOf, type Price, totalTokens, type Usage } from '../../domain/sessions/usage.ts';
import type { CallOfAttempt } from './held-call.ts';
import type { BudgetKit } from './budget-kit.ts';
import { settleIn } from './settle.ts';
import { warnIn } from './warn.ts';
import { larger } from '../engine/larger.ts';
import type { Step, Transaction, Value } from '../engine/statement.ts';
import { KEEP_WORK } from '../runs/work-time.ts';

/** The model of a call: its name in the catalog, and its price at that moment. */
export interface PricedModel {
  readonly name: string;
  readonly price: Price;
}

/**
 * What a call was for, and how it went. `step`: of a reply that was kept; `agent`: the sub-agent that made it. `timing` and
 * `purpose` of a lost call are not known.
 */
export interface CallFacts {
  readonly purpose: CallPurpose | null;
  readonly step: number | null;
  readonly agent: string | null;
  readonly outcome: CallEnding;
  readonly timing: CallTiming | null;
}

/** A call of a run, by the model's name in the catalog and at its price. */
export interface UsedCall extends CallUsage {
  readonly model: string;
  readonly costUsd: number;
  readonly facts: CallFacts;
}

/** What a call of a model has cost at its price. */
export function usedCall({ usage, estimated }: CallUsage, model: PricedModel, facts: CallFacts): UsedCall {
  return { usage, estimated, model: model.name, costUsd: costOf(usage, model.price), facts };
}

/** A model call to record. */
export interface ModelCall {
  readonly sessionSeq: number;
  readonly model: string;
  readonly usage: Usage;
  readonly estimated?: boolean;
  readonly costUsd: number;
  /** Null for a call that belongs to the session alone. */
  readonly run: CallingRun | null;
  readonly facts?: CallFacts;
}

/** What the ledger needs of the run of a call. */
interface CallingRun {
  readonly seq: number;
  readonly keySeq: number | null;
  readonly teamId: string | null;
  readonly isScheduled: boolean;
}

/** A run as its own sums were added to. */
type SummedRun = Pick<CallingRun, 'keySeq' | 'teamId'> & { readonly isScheduled: number };

const ADD_TO_RUN = `UPDATE runs SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
  cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?, cost_usd = cost_usd + ?,
  ${KEEP_WORK}`;
const SUMMED = "RETURNING key_seq, team_id, schedule_mode = 'scheduled' AS isScheduled";
const ADD_TO_HELD = `${ADD_TO_RUN} WHERE seq = ? AND attempt = ? AND status = 'running' ${SUMMED}`;
const ADD_TO_ANY = `${ADD_TO_RUN} WHERE seq = ? ${SUMMED}`;

/** An attempt of a run, and how long its run has been at work until now. */
interface Attempt {
  readonly runSeq: number;
  readonly attempt: number;
  readonly workedMs: number;
}

/** Adds a call to the sums of its run. Returns undefined, and adds nothing, when the attempt no longer holds the run. */
export function* addToHeld(
  tx: Transaction,
  holder: Attempt,
  { usage, costUsd }: UsedCall,
): Step<SummedRun | undefined> {
  const { runSeq, attempt, workedMs } = holder;
  return yield* tx.get<SummedRun>(ADD_TO_HELD, ...tokensOf(usage), costUsd, workedMs, workedMs, runSeq, attempt);
}

/** Adds a call to the sums of its run, whoever holds it. */
export function* addToAny(tx: Transaction, runSeq: number, { usage, costUsd }: UsedCall): Step<SummedRun> {
  return (yield* tx.get<SummedRun>(ADD_TO_ANY, ...tokensOf(usage), costUsd, 0, 0, runSeq))!;
}

/** Records a call that was added to its run: in the ledger and the ledger's sums, and in the budgets that pay for it. */
export function* recordUsage(
  tx: Transaction,
  kit: BudgetKit,
  { sessionSeq, runSeq, attempt, run }: CallOfAttempt & { readonly sessionSeq: number; readonly run: SummedRun },
  { usage, estimated, costUsd, model, facts }: UsedCall,
): Step<void> {
  const calling = { ...run, seq: runSeq, isScheduled: run.isScheduled === 1 };
  const call = { sessionSeq, model, usage, estimated, costUsd, run: calling, facts };
  const { userSeq, teamId } = yield* recordCall(tx, call);
  const hasBudgets = yield* kit.inForce.any(tx);
  yield* kit.held.recordedIn(tx, { runSeq, attempt }, hasBudgets);
  if (!hasBudgets) return;
  const used = { tokens: totalTokens(usage), usd: costUsd };
  const nearly = yield* settleIn(tx, kit, { keySeq: run.keySeq, userSeq, teamId, used });
  for (const budget of nearly) yield* warnIn(tx, kit.warnings, { sessionSeq, runSeq }, budget);
}

/** Records a call in the ledger and its sums. Returns whose usage it is. */
export function* recordCall(
  tx: Transaction,
  call: ModelCall,
): Step<{ readonly userSeq: number; readonly teamId: string | null }> {
  const { userSeq, teamId } = yield* insertRecord(tx, call);
  // A run keeps the team it was accepted with (§4.8 rule 2). Without either, the team is looked up on reading.
  const resolved = teamId ?? call.run?.teamId ?? '';
  const beneficiary = { teamId: resolved, userSeq: resolved === '' ? userSeq : 0 };
  yield* addToQuarter(tx, call, beneficiary);
  yield* noteActivity(tx, call, beneficiary);
  yield* tx.run(
    `UPDATE session_totals SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
       cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?,
       cost_usd = cost_usd + ? WHERE session_seq = ?`,
    ...tokensOf(call.usage),
    call.costUsd,
    call.sessionSeq,
  );
  return { userSeq, teamId: resolved === '' ? null : resolved };
}

function tokensOf(usage: Usage): [number, number, number, number] {
  return [usage.inputTokens, usage.outputTokens, usage.cacheReadTokens, usage.cacheWriteTokens];
}

function* insertRecord(tx: Transaction, call: ModelCall): Step<{ userSeq: number; teamId: string | null }> {
  const { run, model, usage, costUsd, sessionSeq } = call;
  return (yield* tx.get<{ userSeq: number; teamId: string | null }>(
    `INSERT INTO usage_records (at, session_seq, run_seq, user_seq, key_seq, project_id, team_id, model, input_tokens,
       output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, estimated, purpose, step, agent, outcome, tries,
       commit_wait_ms, budget_wait_ms, permit_wait_ms, retry_wait_ms, first_token_ms, duration_ms)
     SELECT ?, s.seq, ?, s.user_seq, ?, s.project_id, u.team_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
     FROM sessions s JOIN users u ON u.seq = s.user_seq WHERE s.seq = ?
     RETURNING user_seq, team_id`,
    tx.now,
    run?.seq ?? null,
    run?.keySeq ?? null,
    model,
    ...tokensOf(usage),
    costUsd,
    Number(call.estimated ?? false),
    ...columnsOf(call.facts),
    sessionSeq,
  ))!;
}

function columnsOf(facts: CallFacts | undefined): Value[] {
  const { purpose = null, step = null, agent = null, outcome = 'ok', timing } = facts ?? {};
  const { tries, commitWaitMs, budgetWaitMs, permitWaitMs, retryWaitMs, firstTokenMs, durationMs } = timing ?? {};
  const durations = [tries, commitWaitMs, budgetWaitMs, permitWaitMs, retryWaitMs, firstTokenMs, durationMs];
  return [purpose, step, agent, outcome, ...durations.map((value) => value ?? null)];
}

/** The owner of the usage: a team, or a user if there is none ('' and 0 mean absent). */
interface Beneficiary {
  readonly teamId: string;
  readonly userSeq: number;
}

function* addToQuarter(tx: Transaction, { usage, costUsd }: ModelCall, { teamId, userSeq }: Beneficiary): Step<void> {
  yield* tx.run(
    `INSERT INTO usage_quarters AS q (quarter, team_id, user_seq, tokens, cost_usd) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (quarter, team_id, user_seq)
       DO UPDATE SET tokens = q.tokens + excluded.tokens, cost_usd = q.cost_usd + excluded.cost_usd`,
    quarterOf(tx.now),
    teamId,
    userSeq,
    totalTokens(usage),
    costUsd,
  );
}

const LATER_QUARTERS = ['quarter', 'normal_quarter', 'scheduled_quarter']
  .map((column) => `${column} = ${larger(`a.${column}`, `excluded.${column}`)}`)
  .join(', ');

/** By source of the run; a call without a run has no source. */
function* noteActivity(tx: Transaction, { sessionSeq, run }: ModelCall, to: Beneficiary): Step<void> {
  const quarter = quarterOf(tx.now);
  yield* tx.run(
    `INSERT INTO session_activity AS a (session_seq, team_id, user_seq, quarter, normal_quarter, scheduled_quarter)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_seq, team_id) DO UPDATE SET
       ${LATER_QUARTERS}
     WHERE excluded.quarter > a.quarter OR excluded.normal_quarter > a.normal_quarter
       OR excluded.scheduled_quarter > a.scheduled_quarter`,
    sessionSeq,
    to.teamId,
    to.userSeq,
    quarter,
    run?.isScheduled === false ? quarter : 0,
    run?.isScheduled === true ? quarter : 0,
  );
}
