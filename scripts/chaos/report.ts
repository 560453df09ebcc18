// Lays out what a storm did to a daemon and what became of its runs.
import type { Observation } from './clients/exchange.ts';
import { isPoisoned } from './checks/faults.ts';
import type { RunRecord, StoredFacts } from '../../src/selftest/checks/journal-rows.ts';
import type { FiringRow } from './checks/schedules.ts';
import type { VersionRow } from './checks/publishing.ts';
import type { HookListener } from './clients/hooks.ts';
import type { Results } from './clients/results.ts';
import type { PlanRules } from './model/plan.ts';
import type { Row, Storm } from './subject.ts';

export interface StormFigures {
  readonly rules: PlanRules;
  readonly storm: Storm;
  readonly stormMs: number;
  readonly calmMs: number;
  readonly checkMs: number;
  readonly modelCalls: number;
  readonly hooks: HookListener;
  readonly results: Results | null;
  readonly firings: readonly FiringRow[];
  readonly versions: readonly VersionRow[];
}

/** A table of two columns. */
export function renderStorm(figures: StormFigures, observations: readonly Observation[], facts: StoredFacts): string {
  const runs = facts.records.map(({ run }) => run);
  const count = (holds: (run: (typeof runs)[number]) => boolean) => runs.filter(holds).length;
  const errors = Map.groupBy(
    runs.filter((run) => run.error !== null),
    (run) => (JSON.parse(run.error ?? '{}') as { type: string }).type,
  );
  const starts = [...figures.storm.startsMs].sort((a, b) => a - b);
  const calls = facts.records.flatMap((record) => record.calls);
  const sum = (of: (observation: Observation) => number) =>
    observations.reduce((total, observation) => total + of(observation), 0);
  const rows: readonly Row[] = [
    ['seed', figures.rules.seed],
    ...figures.storm.rows,
    ['runs accepted', runs.length],
    ['  completed', count((run) => run.status === 'completed')],
    ['  canceled', count((run) => run.status === 'canceled')],
    ...[...errors].map(([type, failed]) => [`  failed, ${type}`, failed.length] as const),
    ['  resumed once', count((run) => run.resumes === 1)],
    ['  resumed twice', count((run) => run.resumes === 2)],
    ...renderFaults(figures, facts),
    ['sessions', facts.sessions.length],
    ['  deleted', facts.sessions.filter(({ deleted }) => deleted === 1).length],
    ['events', facts.records.reduce((total, { events }) => total + events.length, 0)],
    ['model calls', figures.modelCalls],
    ['tool calls recorded', calls.length],
    ['  outcome unknown', calls.filter(({ output }) => output?.startsWith('Interrupted') === true).length],
    ['requests sent', sum(({ sends }) => sends)],
    ['streams rejoined', sum(({ rejoins }) => rejoins)],
    ...renderHooks(figures.hooks),
    ...(figures.results === null ? [] : renderResults(figures, figures.results)),
    ['start to ready, median ms', Math.round(starts[Math.floor(starts.length / 2)] ?? 0)],
    ['start to ready, longest ms', Math.round(starts.at(-1) ?? 0)],
    ['storm, seconds', (figures.stormMs / 1_000).toFixed(1)],
    ['calm after it, seconds', (figures.calmMs / 1_000).toFixed(1)],
    ['checks, seconds', (figures.checkMs / 1_000).toFixed(1)],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${String(value).padStart(8)}`).join('\n');
}

/** The faults other than kills, and what they cost. */
function renderFaults({ rules, storm }: StormFigures, { records }: StoredFacts): Row[] {
  const { locks, serverDown, outage } = storm.diary;
  const [poisoned = [], others = []] = [true, false].map((is) =>
    records.filter((one) => isPoisoned(rules, one) === is),
  );
  const sum = (of: readonly RunRecord[], count: (record: RunRecord) => number) =>
    of.reduce((total, record) => total + count(record), 0);
  const [lockedMs, downMs] = [locks, serverDown].map((stretches) => stretches.map(({ from, to }) => to - from)) as [
    number[],
    number[],
  ];
  return [
    ['poisoned runs', poisoned.length],
    ['  given up', poisoned.filter(({ run }) => run.error?.includes('interrupted_error') === true).length],
    ['  attempts they took', sum(poisoned, ({ run }) => run.attempt)],
    ['  attempts of others lost, no charge', sum(others, unchargedOf)],
    ['locks held', locks.length],
    ['  together, seconds', (lockedMs.reduce((total, ms) => total + ms, 0) / 1_000).toFixed(1)],
    ['  longest, seconds', (Math.max(0, ...lockedMs) / 1_000).toFixed(1)],
    ...(downMs.length === 0
      ? []
      : ([
          ['kills of the server', downMs.length],
          ['  longest until it was ready, seconds', (Math.max(...downMs) / 1_000).toFixed(1)],
        ] as const)),
    ...(outage === null
      ? []
      : ([
          ['outages longer than the run limit', 1],
          ['  seconds', outage.seconds],
          ['  runs in progress when it came', outage.running],
          ['  runs queued when it came', outage.queued],
        ] as const)),
  ];
}

function unchargedOf({ run, events }: RunRecord): number {
  return events.filter(({ type }) => type === 'run.resumed').length - run.resumes;
}

/** What the receiver of webhooks saw. */
function renderHooks({ arrivals, faults, downMs }: HookListener): Row[] {
  const events = new Set(arrivals.map(({ path, eventId }) => `${path} ${eventId}`));
  return [
    ['webhook requests received', arrivals.length],
    ['  distinct deliveries', events.size],
    ['  answered with a failure or not at all', faults()],
    ['  receiver down, seconds', (downMs() / 1_000).toFixed(1)],
  ];
}

/** Scheduled tasks and published pages. */
function renderResults({ firings, versions, hooks }: StormFigures, { publishers, schedules }: Results): Row[] {
  const byClock = firings.filter(({ trigger }) => trigger === 'clock');
  const failures = hooks.arrivals.filter(({ eventType }) => eventType === 'publish_page.failed');
  const count = <T>(all: readonly T[], holds: (one: T) => boolean) => all.filter(holds).length;
  const late = [...publishers.late.values(), ...schedules.late.values()];
  return [
    ['firings of scheduled tasks', firings.length],
    ['  by the clock', byClock.length],
    ['    latest, seconds', Math.max(0, ...byClock.map(({ created_at, due_at }) => created_at - due_at)) / 1_000],
    ['  completed', count(firings, ({ status }) => status === 'completed')],
    ['  with more than one step', count(firings, ({ step_no }) => step_no > 1)],
    ['versions published', versions.length],
    ['  by themselves', count(versions, ({ trigger_type }) => trigger_type === 'auto')],
    ['  of sessions deleted later', count(versions, ({ session_deleted }) => session_deleted === 1)],
    ['  withdrawn', count(versions, ({ withdrawn_at }) => withdrawn_at !== null)],
    ['pages deleted', count(publishers.pages, ({ isDeleted }) => isDeleted)],
    ['publishing given up', new Set(failures.map(({ eventId }) => eventId)).size],
    ['shares read', publishers.reads()],
    ['requests that may have come late', late.reduce((sum, count) => sum + count, 0)],
  ];
}
