// Lays the figures out as an aligned table, with the ratios that answer "what does it cost".
import type { Figures } from './cases/scale.ts';
import type { Row } from './row.ts';
import { RUN_ROWS } from './rows.ts';

/** The compared servers by column; a column that was not measured is left out. */
export interface Report {
  readonly machine: Readonly<Record<string, string | number>>;
  readonly columns: Readonly<Record<string, Figures>>;
  /** Only of errand; absent when not measured. */
  readonly runs?: Figures;
}

const ROWS: readonly Row[] = [
  { key: 'answerP50Ms', label: 'one at a time: answer p50, ms', digits: 2 },
  { key: 'answerP99Ms', label: 'one at a time: answer p99, ms', digits: 2 },
  { key: 'firstTextP50Ms', label: 'one at a time: first text p50, ms', digits: 2 },
  { key: 'firstTextP99Ms', label: 'one at a time: first text p99, ms', digits: 2 },
  { key: 'answerRunsPerSecond', label: 'answer, 32 at once: runs/s', digits: 0 },
  { key: 'answerCpuMsPerRun', label: 'answer, 32 at once: CPU ms/run', digits: 2 },
  { key: 'answerLoadP99Ms', label: 'answer, 32 at once: p99, ms', digits: 1 },
  { key: 'streamRunsPerSecond', label: 'stream of 20, 32 at once: runs/s', digits: 0 },
  { key: 'streamCpuMsPerRun', label: 'stream of 20, 32 at once: CPU ms/run', digits: 2 },
  { key: 'streamLoadP99Ms', label: 'stream of 20, 32 at once: p99, ms', digits: 1 },
  ...(
    [
      ['tools', 'four calls that read'],
      ['lists', 'two calls that read'],
      ['files', 'two calls that write files'],
    ] as const
  ).flatMap(([name, label]): Row[] => [
    { key: `${name}RunsPerSecond`, label: `${label}, 16 at once: runs/s`, digits: 0 },
    { key: `${name}CpuMsPerRun`, label: `${label}, 16 at once: CPU ms/run`, digits: 2 },
    { key: `${name}LoadP99Ms`, label: `${label}, 16 at once: p99, ms`, digits: 1 },
  ]),
  { key: 'filesToLists', label: '  CPU of two that write ÷ two that read', digits: 2 },
  { key: 'burstFirstTextMs', label: '200 streams started at once: all have text, ms', digits: 0 },
  { key: 'deltaDelayP50Ms', label: '200 paced streams: delta delay p50, ms', digits: 2 },
  { key: 'deltaDelayP99Ms', label: '200 paced streams: delta delay p99, ms', digits: 2 },
  { key: 'pacedCpuMsPerSecond', label: '200 paced streams: CPU ms per second', digits: 0 },
  { key: 'loopDelayP99Ms', label: '200 paced streams: event-loop delay p99, ms', digits: 2 },
  { key: 'claimDelayP50Ms', label: 'run accepted to claimed (journal), p50, ms', digits: 0 },
  { key: 'claimDelayP99Ms', label: 'run accepted to claimed (journal), p99, ms', digits: 0 },
  { key: 'listFirstP50Ms', label: 'sessions, first page of 100: p50, ms', digits: 2 },
  { key: 'listFirstP99Ms', label: 'sessions, first page of 100: p99, ms', digits: 2 },
  { key: 'listMiddleP50Ms', label: 'sessions, page from the middle: p50, ms', digits: 2 },
  { key: 'listMiddleP99Ms', label: 'sessions, page from the middle: p99, ms', digits: 2 },
  { key: 'idleRssMb', label: 'memory, idle after start, MB', digits: 0 },
  { key: 'peakRssMb', label: 'memory, peak, MB', digits: 0 },
  { key: 'restRssMb', label: 'memory, right after the load, MB', digits: 0 },
  { key: 'idleCpuMsPerSecond', label: 'CPU, idle after start, ms per second', digits: 2 },
  { key: 'startMs', label: 'start to ready, ms', digits: 0 },
  { key: 'busyElsewherePercent', label: 'machine busy with other things, %', digits: 0 },
];

/** Ratios are reported for what grows with work; a ratio of start times or idle memory would mean nothing. */
const WITHOUT_RATIO = new Set([
  'filesToLists',
  'startMs',
  'idleCpuMsPerSecond',
  'loopDelayP99Ms',
  'busyElsewherePercent',
]);

/** The report as text for people: the machine, the compared servers, and what only errand does. */
export function renderReport({ machine, columns, runs }: Report): string {
  const facts = Object.entries(machine).map(([name, value]) => `${name}: ${value}`);
  const tables = [
    ...(Object.keys(columns).length === 0 ? [] : [renderColumns(columns)]),
    ...(runs === undefined ? [] : [renderRuns(runs)]),
  ];
  return `${[facts.join('\n'), ...tables].join('\n\n')}\n`;
}

/** The last columns are `errand` divided by each baseline, and `errand` minus it. */
function renderColumns(columns: Report['columns']): string {
  const names = Object.keys(columns);
  const ratios = names.includes('errand')
    ? ['pass-through', 'Koa + SQLite', 'AI SDK'].filter((name) => names.includes(name))
    : [];
  const head = ['', ...names, ...ratios.map((name) => `÷ ${name}`), ...ratios.map((name) => `− ${name}`)];
  const lines = ROWS.filter((row) => names.some((name) => columns[name]?.[row.key] !== undefined)).map((row) => {
    const at = (name: string): number | undefined => columns[name]?.[row.key];
    const compared = WITHOUT_RATIO.has(row.key) ? [] : ratios;
    return [
      row.label,
      ...names.map((name) => number(at(name), row.digits)),
      ...ratios.map((name) => (compared.includes(name) ? ratio(at('errand'), at(name)) : '')),
      ...ratios.map((name) => (row.key.endsWith('Ms') && compared.includes(name) ? plus(at('errand'), at(name)) : '')),
    ];
  });
  return aligned([head, ...lines]);
}

function renderRuns(runs: Figures): string {
  const lines = RUN_ROWS.filter((row) => runs[row.key] !== undefined).map((row) => [
    row.label,
    number(runs[row.key], row.digits),
  ]);
  return aligned([['runs and sessions', 'errand'], ...lines]);
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    )
    .map((line) => line.trimEnd())
    .join('\n');
}

function number(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);
}

function ratio(value: number | undefined, base: number | undefined): string {
  return value === undefined || base === undefined || base === 0 ? '' : `${(value / base).toFixed(2)}×`;
}

function plus(value: number | undefined, base: number | undefined): string {
  if (value === undefined || base === undefined) return '';
  const added = value - base;
  return `${added < 0 ? '−' : '+'}${Math.abs(added).toFixed(2)}`;
}
