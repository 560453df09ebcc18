// Lays the figures out as an aligned table, with the ratios that answer "what does it cost".
import type { Figures } from './cases/turns.ts';

/** The compared servers by column; a column that was not measured is left out. */
export interface Report {
  readonly machine: Readonly<Record<string, string | number>>;
  readonly columns: Readonly<Record<string, Figures>>;
  /** Only of errand; absent when not measured. */
  readonly runs?: Figures;
}

interface Row {
  readonly key: string;
  readonly label: string;
  readonly digits: number;
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
  { key: 'toolsRunsPerSecond', label: 'two tool steps, 16 at once: runs/s', digits: 0 },
  { key: 'toolsCpuMsPerRun', label: 'two tool steps, 16 at once: CPU ms/run', digits: 2 },
  { key: 'toolsLoadP99Ms', label: 'two tool steps, 16 at once: p99, ms', digits: 1 },
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

const OFFICE_READS = [
  ['snapshot', 'snapshot of the house'],
  ['todayTeam', 'today’s runs of a team'],
  ['todayNobody', 'today’s unassigned runs'],
] as const;

const OFFICE_SESSION_READS = [
  ['session', 'a session of 200 turns'],
  ['detail', '  its detail'],
  ['summary', '  its summary'],
  ['messages', '  its last 200 messages'],
  ['streamEvents', '  its first 500 events'],
  ['officeRuns', '  100 of its runs'],
  ['rounds', '  100 of its rounds'],
  ['context', '  its context'],
] as const;

const RUN_ROWS: readonly Row[] = [
  { key: 'queued', label: 'runs in the queue, where it is not empty', digits: 0 },
  ...(['1', '32', '256'] as const).flatMap((clients): Row[] => [
    { key: `submit${clients}PerSecond`, label: `background runs accepted/s, clients: ${clients}`, digits: 0 },
    { key: `submit${clients}P99Ms`, label: '  p99, ms', digits: 1 },
    { key: `submit${clients}CpuMs`, label: '  CPU ms/run', digits: 2 },
  ]),
  { key: 'submitBehindPerSecond', label: 'background runs accepted/s behind the queue, clients: 32', digits: 0 },
  { key: 'submitBehindP99Ms', label: '  p99, ms', digits: 1 },
  { key: 'submitBehindCpuMs', label: '  CPU ms/run', digits: 2 },
  { key: 'backgroundClaimP50Ms', label: 'background run accepted to claimed, slot free (journal), p50, ms', digits: 0 },
  { key: 'backgroundClaimP99Ms', label: '  p99, ms', digits: 0 },
  { key: 'pollFirstP50Ms', label: 'look-up of the first run in the queue, p50, ms', digits: 2 },
  { key: 'pollFirstP99Ms', label: '  p99, ms', digits: 2 },
  { key: 'pollP50Ms', label: 'look-up of any run in the queue, p50, ms', digits: 2 },
  { key: 'pollP99Ms', label: '  p99, ms', digits: 2 },
  { key: 'pollsPerSecond', label: 'look-ups of any run in the queue/s, clients: 32', digits: 0 },
  { key: 'claimNothingAloneUs', label: 'claim that finds nothing, empty queue, p50, µs', digits: 0 },
  { key: 'claimNothingBehindUs', label: 'claim that finds nothing, twice the queue blocked, p50, µs', digits: 0 },
  { key: 'claimAloneUs', label: 'claim of 100 in one commit, empty queue, µs each', digits: 0 },
  { key: 'claimBehindUs', label: 'claim of 100 in one commit, twice the queue blocked, µs each', digits: 0 },
  { key: 'handOverAloneP50Ms', label: 'end of a run to claim of the next in its session, p50, ms', digits: 2 },
  { key: 'handOverBehindP50Ms', label: 'the same with the queue in that session, p50, ms', digits: 2 },
  { key: 'spawnBareP50Ms', label: 'command: bare spawn, p50, ms', digits: 2 },
  { key: 'spawnSandboxP50Ms', label: 'command: in the sandbox, p50, ms', digits: 2 },
  { key: 'mcpBareP50Ms', label: 'MCP call: bare client in one process, p50, ms', digits: 2 },
  { key: 'mcpSandboxP50Ms', label: 'MCP call: server in the sandbox, p50, ms', digits: 2 },
  { key: 'mcpStartMs', label: 'MCP server: start and list of tools, ms', digits: 0 },
  ...(['0', '100', '1000'] as const).flatMap((turns): Row[] => [
    { key: `firstTextAfter${turns}P50Ms`, label: `first text, earlier turns: ${turns}, p50, ms`, digits: 2 },
    { key: `firstTextAfter${turns}P99Ms`, label: '  p99, ms', digits: 2 },
  ]),
  { key: 'officeCalls', label: 'model calls in the store of Office Mode', digits: 0 },
  { key: 'officeCallsToday', label: '  of today', digits: 0 },
  ...OFFICE_READS.flatMap(([read, words]) =>
    (['Empty', 'Full'] as const).flatMap((where): Row[] => [
      { key: `${read}${where}CpuMs`, label: `${words}, ${where.toLowerCase()} store: CPU ms`, digits: 2 },
      { key: `${read}${where}P99Ms`, label: '  p99, ms', digits: 2 },
      { key: `${read}${where}PauseMs`, label: '  longest pause of the event loop, ms', digits: 1 },
      { key: `${read}${where}BusyMs`, label: '  most work in one turn of the loop, CPU ms', digits: 1 },
    ]),
  ),
  ...OFFICE_SESSION_READS.flatMap(([read, words]): Row[] => [
    { key: `${read}FullCpuMs`, label: `${words}, full store: CPU ms`, digits: 2 },
    { key: `${read}FullP99Ms`, label: '    p99, ms', digits: 2 },
    { key: `${read}FullPauseMs`, label: '    longest pause of the event loop, ms', digits: 1 },
    { key: `${read}FullBusyMs`, label: '    most work in one turn of the loop, CPU ms', digits: 1 },
  ]),
  { key: 'snapshotFiles', label: 'files in a workspace', digits: 0 },
  { key: 'snapshotFirstMs', label: '  first snapshot, all kept, ms', digits: 0 },
  { key: 'snapshotNextMs', label: '  the next, 10 changed, ms', digits: 0 },
  { key: 'crowdFiles', label: 'files in a crowded workspace', digits: 0 },
  { key: 'crowdFirstMs', label: '  first snapshot, all kept, ms', digits: 0 },
  { key: 'crowdNextMs', label: '  the next, 10 changed, ms', digits: 0 },
  { key: 'packedMb', label: 'packed and sent, MB', digits: 0 },
  { key: 'tarGzMbPerSecond', label: '  tar.gz, MB/s', digits: 0 },
  { key: 'plainTarMbPerSecond', label: '  tar.gz by the system’s tar, MB/s', digits: 0 },
  { key: 'tarGzMemoryMb', label: '  memory grown while packing the tar.gz, MB', digits: 0 },
  { key: 'zipMbPerSecond', label: '  zip, MB/s', digits: 0 },
  { key: 'plainZipMbPerSecond', label: '  zip by the system’s zip, MB/s', digits: 0 },
  { key: 'zipMemoryMb', label: '  memory grown while packing the zip, MB', digits: 0 },
  { key: 'sendMbPerSecond', label: '  sent to one client, MB/s', digits: 0 },
  { key: 'sendMemoryMb', label: '  memory grown while sending, MB', digits: 0 },
  ...(
    [
      ['watched1000', '1,000 watchers of one session, 20 events/s'],
      ['watched5000', '5,000 watchers of 50 sessions, 2 events/s each'],
    ] as const
  ).flatMap(([name, label]): Row[] => [
    { key: `${name}EventsPerSecond`, label: `${label}: sent/s`, digits: 0 },
    { key: `${name}CpuMsPerSecond`, label: '  CPU of the watchers, ms per second', digits: 0 },
    { key: `${name}BareCpuMsPerSecond`, label: '  bare fan-out: CPU, ms per second', digits: 0 },
    { key: `${name}DelayP50Ms`, label: '  delay from the model, p50, ms', digits: 1 },
    { key: `${name}DelayP99Ms`, label: '  p99, ms', digits: 1 },
    { key: `${name}AloneDelayP99Ms`, label: '  p99 with one watcher each, ms', digits: 1 },
    { key: `${name}BareDelayP99Ms`, label: '  bare fan-out: p99, ms', digits: 1 },
    { key: `${name}KbEach`, label: '  memory per watcher, KB', digits: 0 },
    { key: `${name}BareKbEach`, label: '  bare fan-out: memory per watcher, KB', digits: 0 },
  ]),
  { key: 'watchedRunsPerSecond', label: 'runs/s, each watched by 11 streams', digits: 0 },
  { key: 'watchedRunsAlonePerSecond', label: '  without watchers', digits: 0 },
  { key: 'watchedRunsCpuMs', label: '  CPU ms/run', digits: 2 },
  { key: 'watchedRunsAloneCpuMs', label: '  without watchers', digits: 2 },
  { key: 'watchedRunsCostPercent', label: '  what the watchers cost, %', digits: 1 },
  { key: 'watchedRunsP99Ms', label: '  p99, ms', digits: 1 },
  { key: 'watchedRunsAloneP99Ms', label: '  without watchers', digits: 1 },
  ...(['1', '10'] as const).flatMap((rate): Row[] => [
    {
      key: `view${rate}CpuPercent`,
      label: `errand office, 500 rows, changes of each/s: ${rate}: CPU, % of a core`,
      digits: 1,
    },
    { key: `view${rate}FramesPerSecond`, label: '  frames/s', digits: 1 },
    { key: `view${rate}KbPerSecond`, label: '  written, KB/s', digits: 1 },
    { key: `view${rate}RssMb`, label: '  memory at the end, MB', digits: 0 },
    { key: `view${rate}HeapBeforeMb`, label: '  heap in use at the beginning, MB', digits: 1 },
    { key: `view${rate}HeapMb`, label: '  heap in use at the end, MB', digits: 1 },
  ]),
  { key: 'hookNoneCpuMs', label: 'run without webhooks: CPU ms/run', digits: 2 },
  { key: 'hookOtherCostMs', label: "  what another user's webhook costs, CPU ms", digits: 2 },
  { key: 'hookOneCostMs', label: '  what one webhook costs, with sending, CPU ms', digits: 2 },
  { key: 'hookTenCostMs', label: '  what ten webhooks cost, CPU ms', digits: 2 },
  { key: 'hookNoticeNs', label: '  an event that no webhook wants, ns', digits: 0 },
  { key: 'hookWayP50Ms', label: 'webhook: event committed to receiver, one run at a time, p50, ms', digits: 0 },
  { key: 'hookWayP99Ms', label: '  p99, ms', digits: 0 },
  { key: 'hookWayBusyP50Ms', label: '  16 runs at once, p50, ms', digits: 0 },
  { key: 'hookWayBusyP99Ms', label: '  p99, ms', digits: 0 },
  { key: 'hooksPerSecond', label: 'webhook deliveries/s, 16 webhooks', digits: 0 },
  { key: 'hookCpuMs', label: '  CPU ms each', digits: 3 },
  { key: 'hookBarePerSecond', label: '  bare undici loop, 64 at once: requests/s', digits: 0 },
  { key: 'hookBareCpuMs', label: '  CPU ms each', digits: 3 },
  { key: 'hookRatio', label: '  CPU ÷ bare loop', digits: 2 },
  { key: 'hookPending', label: 'deliveries pending for 100 dead receivers', digits: 0 },
  { key: 'hookPendingHeapMb', label: '  heap grown, MB', digits: 1 },
  { key: 'hookPendingRssMb', label: '  memory grown, MB', digits: 0 },
  { key: 'hookPendingCpuMs', label: '  CPU for them per run meanwhile, ms', digits: 2 },
  { key: 'hookBehindP50Ms', label: '  living webhook: event committed to receiver, p50, ms', digits: 0 },
  { key: 'hookBehindP99Ms', label: '  p99, ms', digits: 0 },
  { key: 'hookAloneP50Ms', label: '  without the dead: p50, ms', digits: 0 },
  { key: 'hookAloneP99Ms', label: '  p99, ms', digits: 0 },
  { key: 'hookPlanned', label: 'events planned after a time without planning', digits: 0 },
  { key: 'hookPlannedPerSecond', label: '  planned/s', digits: 0 },
  { key: 'hookPlannedCpuMs', label: '  CPU ms each', digits: 3 },
  { key: 'hookPlannedSlowestMs', label: '  slowest /healthz meanwhile, ms', digits: 0 },
  { key: 'keyChecksPerSecond', label: 'API keys checked/s', digits: 0 },
  { key: 'tokenChecksPerSecond', label: 'login tokens checked/s', digits: 0 },
  { key: 'busyElsewherePercent', label: 'machine busy with other things, %', digits: 0 },
];

/** Ratios are reported for what grows with work; a ratio of start times or idle memory would mean nothing. */
const WITHOUT_RATIO = new Set(['startMs', 'idleCpuMsPerSecond', 'loopDelayP99Ms', 'busyElsewherePercent']);

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
  const ratios = names.includes('errand') ? ['pass-through', 'AI SDK'].filter((name) => names.includes(name)) : [];
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
