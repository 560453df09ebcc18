// The lines of what several daemons on one database cost.
import { NODE_CLIENTS, NODES } from './cases/nodes.ts';
import { SHOTS } from './cases/postgres.ts';
import type { Row } from './row.ts';

const rowsOf = (shot: string, nodes: number): readonly Row[] => [
  {
    key: `nodes${nodes}${shot}CpuMs`,
    label: `${shot}, clients of each: ${NODE_CLIENTS}, daemons: ${nodes}: CPU of all, ms/run`,
    digits: 2,
  },
  { key: `nodes${nodes}${shot}ServerCpuMs`, label: '  CPU of the server, ms/run', digits: 2 },
  { key: `nodes${nodes}${shot}PerSecond`, label: '  runs/s', digits: 0 },
  { key: `nodes${nodes}${shot}P50Ms`, label: '  p50, ms', digits: 1 },
  { key: `nodes${nodes}${shot}P99Ms`, label: '  p99, ms', digits: 1 },
];

const timelyRows = (key: string, where: string): readonly Row[] => [
  { key: `${key}NodeFirstTextP50Ms`, label: `first text, one client, ${where}: p50, ms`, digits: 1 },
  { key: `${key}NodeDeltaP50Ms`, label: '  deltas of paced streams, p50, ms', digits: 1 },
  { key: `${key}NodeDeltaP99Ms`, label: '  p99, ms', digits: 1 },
];

export const NODE_ROWS: readonly Row[] = [
  ...Object.keys(SHOTS).flatMap((shot) => NODES.flatMap((nodes) => rowsOf(shot, nodes))),
  ...timelyRows('own', 'the node that executes'),
  ...timelyRows('other', 'through another node'),
  { key: 'nodeLossSeconds', label: 'a killed node’s run goes on at another one, s', digits: 1 },
];
