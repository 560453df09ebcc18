// The lines of what reaches people: published pages and scheduled tasks.
import type { Row } from './row.ts';

const CONTENTS = [
  ['small', 'published file of 4 KB, 16 connections'],
  ['medium', 'published file of 1 MB, 4 connections'],
] as const;

const SERVERS = [
  ['Errand', ''],
  ['Bare', '  bare node:http: '],
  ['Nginx', '  nginx (– when not installed): '],
] as const;

const BOARD_READS = [
  ['boardPage', 'page of the board'],
  ['boardSearch', '  its search'],
  ['boardCategory', '  of one category'],
  ['boardList', 'list of the board, 1,000 pages'],
  ['boardTen', '  10 pages'],
  ['boardName', '  by name'],
  ['shareDetail', 'share, as JSON'],
  ['sharePage', 'share, page for people'],
] as const;

const FIRINGS = [
  ['spread', 'tasks due one after the other, 25/s'],
  ['burst', 'tasks due at once'],
] as const;

const FORMS = [
  ['packaged', 'single executable'],
  ['checkout', '  node dist'],
] as const;

const STORM_TIMES = [
  ['stormCalmTook', 'small request'],
  ['stormTook', 'small request among the worst inputs'],
  ['stormWaited', '  of which for a processor'],
  ['stormOwn', '  without that'],
] as const;

export const RESULT_ROWS: readonly Row[] = [
  ...FORMS.flatMap(([form, label]): Row[] => [
    { key: `${form}StartMs`, label: `${label}: start to ready, ms`, digits: 0 },
    { key: `${form}FirstMs`, label: '    the first time', digits: 0 },
    { key: `${form}StartCpuMs`, label: '    CPU until ready, ms', digits: 0 },
    { key: `${form}RestMb`, label: '    memory at rest, MB', digits: 0 },
  ]),
  ...CONTENTS.flatMap(([content, label]): Row[] => [
    ...SERVERS.flatMap(([server, words]): Row[] => [
      {
        key: `${content}${server}PerSecond`,
        label: server === 'Errand' ? `${label}: requests/s` : `${words}requests/s`,
        digits: 0,
      },
      { key: `${content}${server}MbPerSecond`, label: '    MB/s', digits: 0 },
      { key: `${content}${server}CpuMs`, label: '    CPU ms/request', digits: 3 },
      { key: `${content}${server}P99Ms`, label: '    p99, ms', digits: 1 },
    ]),
    { key: `${content}CpuRatio`, label: '  CPU ÷ bare node:http', digits: 2 },
    { key: `${content}SpeedPercent`, label: '  throughput, % of bare node:http', digits: 0 },
  ]),
  { key: 'largeContentMb', label: 'large published file, MB, one connection', digits: 0 },
  ...SERVERS.flatMap(([server, words]): Row[] => [
    { key: `large${server}MbPerSecond`, label: `${words || '  '}MB/s`, digits: 0 },
    { key: `large${server}CpuMs`, label: '    CPU ms/request', digits: 0 },
  ]),
  { key: 'largeCpuRatio', label: '  CPU ÷ bare node:http', digits: 2 },
  { key: 'largeSpeedPercent', label: '  throughput, % of bare node:http', digits: 0 },
  { key: 'versionFiles', label: 'files of a version', digits: 0 },
  { key: 'versionP50Ms', label: '  published, p50, ms', digits: 1 },
  { key: 'versionP99Ms', label: '  p99, ms', digits: 1 },
  { key: 'versionCpuMs', label: '  CPU ms', digits: 1 },
  { key: 'versionPauseMs', label: '  longest pause of the event loop, ms', digits: 1 },
  { key: 'versionBusyMs', label: '  most work in one turn of the loop, CPU ms', digits: 1 },
  { key: 'boardPages', label: 'pages on the board', digits: 0 },
  ...BOARD_READS.flatMap(([read, words]): Row[] => [
    { key: `${read}CpuMs`, label: `${words}: CPU ms`, digits: 2 },
    { key: `${read}P99Ms`, label: '    p99, ms', digits: 2 },
    { key: `${read}PauseMs`, label: '    longest pause of the event loop, ms', digits: 1 },
    { key: `${read}BusyMs`, label: '    most work in one turn of the loop, CPU ms', digits: 1 },
  ]),
  { key: 'tasks', label: 'scheduled tasks, none due', digits: 0 },
  { key: 'tasksIdleCpuMsPerSecond', label: '  CPU, ms per second', digits: 2 },
  { key: 'tasksNoneIdleCpuMsPerSecond', label: '  without tasks', digits: 2 },
  ...FIRINGS.flatMap(([name, label]): Row[] => [
    { key: `${name}Firings`, label, digits: 0 },
    { key: `${name}DelayP50Ms`, label: '  due to run.queued (journal), p50, ms', digits: 0 },
    { key: `${name}DelayP99Ms`, label: '  p99, ms', digits: 0 },
    { key: `${name}DelayMaxMs`, label: '  longest, ms', digits: 0 },
    { key: `${name}CpuMs`, label: '  CPU ms each, with its run', digits: 2 },
    { key: `${name}PauseMs`, label: '  longest pause of the event loop, ms', digits: 1 },
    { key: `${name}BusyMs`, label: '  most work in one turn of the loop, CPU ms', digits: 1 },
    { key: `${name}SlowestMs`, label: '  slowest /healthz meanwhile, ms', digits: 0 },
  ]),
  { key: 'retentionEvents', label: 'removing by age: events of 100,000 runs', digits: 0 },
  { key: 'retentionRowsPerSecond', label: '  rows/s, under load', digits: 0 },
  { key: 'retentionAloneP50Ms', label: '  turn without it, p50, ms', digits: 1 },
  { key: 'retentionAloneP99Ms', label: '    p99, ms', digits: 1 },
  { key: 'retentionAlonePauseMs', label: '    longest pause of the event loop, ms', digits: 1 },
  { key: 'retentionP50Ms', label: '  turn meanwhile, p50, ms', digits: 1 },
  { key: 'retentionP99Ms', label: '    p99, ms', digits: 1 },
  { key: 'retentionPauseMs', label: '    longest pause of the event loop, ms', digits: 1 },
  { key: 'retentionMbBefore', label: '  database before, MB', digits: 0 },
  { key: 'retentionMbAfter', label: '    after, MB', digits: 0 },
  ...STORM_TIMES.flatMap(([name, label]): Row[] => [
    { key: `${name}P50Ms`, label: `${label}, p50, ms`, digits: 1 },
    { key: `${name}P99Ms`, label: '    p99, ms', digits: 1 },
  ]),
  { key: 'stormRatio', label: '  p99 of the latter ÷ of the former', digits: 1 },
  { key: 'stormLongestTurnMs', label: '  most work in one turn of the loop, CPU ms', digits: 1 },
  { key: 'stormMainRunsPercent', label: '  main thread at work, % of the time', digits: 0 },
  { key: 'stormMainWaitsPercent', label: '    waiting for a processor', digits: 0 },
  { key: 'stormDaemonCpus', label: '  processors taken by the daemon', digits: 2 },
  { key: 'stormModelCpus', label: '    by the model server', digits: 2 },
  { key: 'stormClientCpus', label: '    by the clients', digits: 2 },
  { key: 'stormRssBeforeMb', label: '  memory before, MB', digits: 0 },
  { key: 'stormRssMb', label: '    at its highest', digits: 0 },
  { key: 'stormRefused', label: '  requests of the others that were refused', digits: 0 },
];
