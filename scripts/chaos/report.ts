// Lays out what a storm did to a daemon and what became of its runs.
import type { Sighting } from './exchange.ts';
import type { StoredFacts } from './journal-rows.ts';

export interface StormFigures {
  readonly seed: number;
  readonly kills: number;
  readonly startsMs: readonly number[];
  readonly stillborn: number;
  readonly stormMs: number;
  readonly calmMs: number;
  readonly checkMs: number;
  readonly modelCalls: number;
}

/** A table of two columns. */
export function renderStorm(figures: StormFigures, sightings: readonly Sighting[], facts: StoredFacts): string {
  const runs = facts.records.map(({ run }) => run);
  const count = (holds: (run: (typeof runs)[number]) => boolean) => runs.filter(holds).length;
  const errors = Map.groupBy(
    runs.filter((run) => run.error !== null),
    (run) => (JSON.parse(run.error ?? '{}') as { type: string }).type,
  );
  const starts = [...figures.startsMs].sort((a, b) => a - b);
  const calls = facts.records.flatMap((record) => record.calls);
  const sum = (of: (sighting: Sighting) => number) => sightings.reduce((total, sighting) => total + of(sighting), 0);
  const rows: readonly (readonly [string, string | number])[] = [
    ['seed', figures.seed],
    ['kills', figures.kills],
    ['kills before it was ready', figures.stillborn],
    ['runs accepted', runs.length],
    ['  completed', count((run) => run.status === 'completed')],
    ['  canceled', count((run) => run.status === 'canceled')],
    ...[...errors].map(([type, failed]) => [`  failed, ${type}`, failed.length] as const),
    ['  resumed once', count((run) => run.resumes === 1)],
    ['  resumed twice', count((run) => run.resumes === 2)],
    ['sessions', facts.sessions.length],
    ['  deleted', facts.sessions.filter(({ deleted }) => deleted === 1).length],
    ['events', facts.records.reduce((total, { events }) => total + events.length, 0)],
    ['model calls', figures.modelCalls],
    ['tool calls recorded', calls.length],
    ['  outcome unknown', calls.filter(({ output }) => output?.startsWith('Interrupted') === true).length],
    ['requests sent', sum(({ sends }) => sends)],
    ['streams rejoined', sum(({ rejoins }) => rejoins)],
    ['start to ready, median ms', Math.round(starts[Math.floor(starts.length / 2)] ?? 0)],
    ['start to ready, longest ms', Math.round(starts.at(-1) ?? 0)],
    ['storm, seconds', (figures.stormMs / 1_000).toFixed(1)],
    ['calm after it, seconds', (figures.calmMs / 1_000).toFixed(1)],
    ['checks, seconds', (figures.checkMs / 1_000).toFixed(1)],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${String(value).padStart(8)}`).join('\n');
}
