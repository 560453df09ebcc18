// What the faults may cost: a poisoned run only itself, a lock nothing, an outage no run time.
import { numberOf } from './traces.ts';
import type { Observation } from '../clients/exchange.ts';
import type { EventRow, RunRecord, StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';
import { type Diary, isExcused, isWithin, type Loss, RUN_LIMIT_SECONDS } from '../storm/faults.ts';
import { planOf, type PlanRules } from '../model/plan.ts';

/** Between the clock of the journal and that of the time at work. */
const CLOCKS_MS = 1_000;

export interface FaultCheck {
  readonly rules: PlanRules;
  readonly facts: StoredFacts;
  readonly diary: Diary;
  /** They show what runs of deleted sessions were; the rows no longer do. */
  readonly observations: readonly Observation[];
}

/** Returns every violation in words; none when all is well. */
export function checkFaults({ rules, facts, diary, observations }: FaultCheck): string[] {
  const { records } = facts;
  const harmless = new Set(
    observations.filter(({ request }) => !planOf(rules, request.number).poisoned).map(({ runId }) => runId),
  );
  const erased = facts.erased.filter(({ run }) => !harmless.has(run.id));
  const poisoned = [...records.filter((record) => isPoisoned(rules, record)), ...erased];
  return records.flatMap((record) =>
    [
      ...checkOutcome(rules, record),
      ...(poisoned.includes(record) ? [] : checkCharges(record, poisoned, diary)),
      ...checkTime(record, diary),
    ].map((words) => `run ${record.run.seq} (${record.run.id}, ${record.run.status}): ${words}`),
  );
}

export const isPoisoned = (rules: PlanRules, record: RunRecord): boolean => planOf(rules, numberOf(record)).poisoned;

function errorTypeOf({ run }: RunRecord): string | null {
  return run.error === null ? null : (JSON.parse(run.error) as { type: string }).type;
}

/** A run fails because its thread dies each time, because it was killed too often, or because its model refuses it or breaks off. */
function checkOutcome(rules: PlanRules, record: RunRecord): string[] {
  const type = errorTypeOf(record);
  const { poisoned, fault } = planOf(rules, numberOf(record));
  if (poisoned && record.run.status === 'completed')
    return ['it completed, though it ends every thread that carries it'];
  // How long it had a worker is checked separately.
  if (type === null || type === 'interrupted_error' || type === 'timeout_error') return [];
  // After text was streamed, the model is not asked again (D8).
  const isFaulty = !poisoned && (fault?.times === null || fault?.kind === 'cut');
  return isFaulty ? [] : [`it failed, and nothing was wrong with it: ${record.run.error}`];
}

/** Only a kill is charged. A run that loses its worker to a poisoned run next to it is not charged. */
function checkCharges(record: RunRecord, poisoned: readonly RunRecord[], diary: Diary): string[] {
  let [resumes, attempt] = [0, 0];
  return record.events.flatMap((event) => {
    const at = event.created_at;
    if (event.type === 'run.started') attempt = attemptOf(event);
    const losses = diary.lossesOf(record.run.seq, attempt);
    if (event.type === 'run.failed')
      return errorTypeOf(record) !== 'interrupted_error' || isWithin(at, losses) || isExcused(at, diary)
        ? []
        : ['it was given up, and not because of a kill'];
    if (event.type !== 'run.resumed') return [];
    const before = resumes;
    resumes = (JSON.parse(event.payload) as { resumes: number }).resumes;
    if (isWithin(at, losses) || isExcused(at, diary)) return [];
    if (resumes > before) return [`resume ${resumes} was charged, and not because of a kill`];
    return poisoned.some((other) => isBeside(other, event, losses)) ? [] : ['it lost its worker to nothing'];
  });
}

const attemptOf = ({ payload }: EventRow) => (JSON.parse(payload) as { attempt: number }).attempt;

/** Whether a poisoned run had a worker in the same life of the daemon before something was lost. */
function isBeside({ run, events }: RunRecord, { created_at: at }: EventRow, losses: readonly Loss[]): boolean {
  // Runs are claimed before a new daemon is seen to be ready.
  const born = Math.max(0, ...losses.filter(({ to }) => to <= at).map(({ from }) => from));
  if (run.deleted === 1) return run.started_at !== null && run.started_at <= at && (run.finished_at ?? at) >= born;
  return events.some(({ type, created_at }) => type === 'run.started' && created_at >= born && created_at <= at);
}

/** Time counts against a run only while it has a worker. */
function checkTime(record: RunRecord, diary: Diary): string[] {
  const type = errorTypeOf(record);
  const { worked_ms } = record.run;
  const mostMs = workedAtMost(record, diary);
  return [
    ...(type === 'timeout_error' && mostMs < RUN_LIMIT_SECONDS * 1_000
      ? [`it timed out after no more than ${mostMs} ms at work`]
      : []),
    ...(type === 'queue_timeout_error' ? ['it timed out in the queue'] : []),
    ...(worked_ms < 0 || worked_ms > mostMs + CLOCKS_MS ? [`${worked_ms} ms at work are counted of ${mostMs}`] : []),
  ];
}

const LETS_GO = new Set(['run.resumed', 'run.done', 'run.failed', 'run.stopped']);

/** Milliseconds of its attempts, each until the run was released or the daemon was killed. */
function workedAtMost({ run, events }: RunRecord, { lossesOf }: Diary): number {
  let total = 0;
  let since: number | null = null;
  let [resumes, attempt] = [0, 0];
  for (const event of events) {
    const { type, payload, created_at: at } = event;
    if (type === 'run.started') [since, attempt] = [at, attemptOf(event)];
    if (since === null || !LETS_GO.has(type)) continue;
    const begun = since;
    const charged = type === 'run.resumed' ? (JSON.parse(payload) as { resumes: number }).resumes : resumes;
    // A run charged in an outage was released by the next daemon: the last one had it until it was killed.
    const isCharged = charged > resumes || type === 'run.failed';
    const killed = isCharged
      ? lossesOf(run.seq, attempt).find(({ isKill, from, to }) => isKill && begun < from && from <= at && at <= to)
      : undefined;
    total += (killed?.from ?? at) - begun;
    [since, resumes] = [null, charged];
  }
  return total;
}
