// Every firing happened once, its steps one after the other and each once, and its end is that of its last run.
import Connection from 'better-sqlite3';
import { makeAccount } from '../clients/late.ts';
import type { Results } from '../clients/results.ts';
import type { RunRecord, StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';
import { numberOf } from './traces.ts';

export interface FiringRow {
  readonly id: number;
  readonly task_id: string;
  readonly session_seq: number;
  readonly trigger: 'clock' | 'manual';
  readonly due_at: number;
  readonly status: string;
  readonly step_no: number;
  readonly step_count: number;
  readonly created_at: number;
  readonly ended_at: number | null;
}

/** The status of a firing by its last run. */
export const FIRING_STATUS: Readonly<Record<string, string>> = {
  completed: 'completed',
  failed: 'failed',
  incomplete: 'failed',
  canceled: 'stopped',
};

export const isScheduled = ({ run }: RunRecord): boolean => run.schedule_mode === 'scheduled';

/** The runs that clients have asked for. */
export function withoutScheduled(facts: StoredFacts): StoredFacts {
  const [records, erased] = [facts.records, facts.erased].map((all) => all.filter((record) => !isScheduled(record)));
  return { ...facts, records: records!, erased: erased! };
}

/** Firings in order; reads a database that nobody writes to. */
export function readFirings(file: string): FiringRow[] {
  const connection = new Connection(file, { readonly: true });
  try {
    return connection
      .prepare<[], FiringRow>(
        'SELECT f.*, t.id AS task_id FROM firings f JOIN scheduled_tasks t ON t.seq = f.task_seq ORDER BY f.id',
      )
      .all();
  } finally {
    connection.close();
  }
}

/** Returns every violation in words; none when all is well. */
export function checkSchedules({ schedules }: Results, facts: StoredFacts, file: string): string[] {
  const firings = readFirings(file);
  const runs = [...facts.records, ...facts.erased].filter(isScheduled);
  const bySession = Map.groupBy(runs, ({ run }) => run.session_seq);
  const known = new Set(firings.map(({ session_seq }) => session_seq));
  const late = lateOf(firings, schedules);
  const lost = [...schedules.fired.keys()].filter((id) => firings.every((firing) => firing.id !== id));
  return [
    ...firings.flatMap((firing) =>
      [
        ...checkFiring(firing, bySession.get(firing.session_seq) ?? []),
        ...checkWork(firing, bySession.get(firing.session_seq) ?? [], { ...schedules, late }),
      ].map((words) => `firing ${firing.id} (${firing.trigger}, ${firing.status}): ${words}`),
    ),
    ...lost.map((id) => `firing ${id} was confirmed, and is gone`),
    ...twice(firings, (firing) => String(firing.session_seq)),
    ...twice(
      firings.filter(({ trigger }) => trigger === 'clock'),
      (firing) => `${firing.task_id} due at ${new Date(firing.due_at).toISOString()}`,
    ),
    ...twice(
      facts.records.filter((record) => isScheduled(record) && !mayRepeat(record, firings, late)),
      (record) => `step ${numberOf(record)}`,
    ),
    ...[...bySession.keys()].filter((seq) => !known.has(seq)).map((seq) => `session ${seq} has runs without a firing`),
  ];
}

/** Firings that nobody knows, for which requests account whose replies were lost. */
export function lateOf(
  firings: readonly Pick<FiringRow, 'id' | 'task_id' | 'trigger'>[],
  { fired, late }: Pick<Results['schedules'], 'fired' | 'late'>,
): ReadonlySet<number> {
  const isLate = makeAccount(late);
  const unknown = firings.filter(({ id, trigger }) => trigger === 'manual' && !fired.has(id));
  return new Set(unknown.filter(({ task_id }) => isLate(task_id)).map(({ id }) => id));
}

/** Its firing does the steps that its task has then, which another one may have done. */
function mayRepeat({ run }: RunRecord, firings: readonly FiringRow[], late: ReadonlySet<number>): boolean {
  return firings.some(
    ({ id, session_seq, trigger }) => session_seq === run.session_seq && (trigger === 'clock' || late.has(id)),
  );
}

/** Only the last run may have failed, and only if it completed there is another. */
function checkFiring(firing: FiringRow, runs: readonly RunRecord[]): string[] {
  const { status, step_no, step_count, trigger, due_at, created_at, ended_at } = firing;
  const last = runs.at(-1)?.run.status ?? '';
  const early = runs.slice(0, -1).filter(({ run }) => run.status !== 'completed');
  return [
    ...(ended_at === null ? ['it never ended'] : []),
    ...(runs.length === step_no ? [] : [`it has ${runs.length} runs for ${step_no} steps`]),
    ...(FIRING_STATUS[last] === status ? [] : [`its last run is ${last}`]),
    ...(status !== 'completed' || step_no === step_count ? [] : [`it ended after ${step_no} of ${step_count} steps`]),
    ...(early.length === 0 ? [] : ['it continued after a step that did not complete']),
    ...(trigger === 'clock' && (due_at % 60_000 !== 0 || created_at < due_at) ? ['it was not due then'] : []),
    // Nobody stops what was fired on request.
    ...(trigger === 'manual' && status === 'stopped' ? ['it was stopped'] : []),
  ];
}

/** Its runs are the steps that its task had then, in order. */
function checkWork(
  firing: FiringRow,
  runs: readonly RunRecord[],
  { works, fired, late }: Pick<Results['schedules'], 'works' | 'fired'> & { readonly late: ReadonlySet<number> },
): string[] {
  if (runs.some(({ run }) => run.deleted === 1)) return [];
  const numbers = runs.map(numberOf);
  const work = works.find(({ first }) => first === numbers[0]);
  if (work === undefined || work.taskId !== firing.task_id) return [`step ${numbers[0]} is not of its task`];
  const asked = fired.get(firing.id);
  return [
    ...(numbers.every((number, i) => number === work.first + i) ? [] : [`it did the steps ${numbers.join()}`]),
    ...(firing.step_count === work.count ? [] : [`it has ${firing.step_count} steps, not ${work.count}`]),
    ...(asked === undefined || asked === work ? [] : [`it began with step ${work.first}, not ${asked.first}`]),
    ...(firing.trigger === 'manual' && asked === undefined && !late.has(firing.id) ? ['nobody has asked for it'] : []),
  ];
}

function twice<T>(all: readonly T[], nameOf: (one: T) => string): string[] {
  return [...Map.groupBy(all, nameOf)].flatMap(([name, same]) =>
    same.length === 1 ? [] : [`${name} is there ${same.length} times`],
  );
}
