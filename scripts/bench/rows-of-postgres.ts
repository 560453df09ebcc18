// The lines of what a run costs with its rows in SQLite, in PostgreSQL, and in PostgreSQL at 2 ms.
import { CLIENTS, LARGE_CLIENTS, PLACES, SHOTS } from './cases/postgres.ts';
import type { Row } from './row.ts';

const WORDS = { sqlite: 'SQLite', local: 'PostgreSQL', far: 'PostgreSQL at 2 ms', large: 'many sessions' } as const;

const rowsOf = (shot: string, clients: number, place: keyof typeof WORDS): readonly Row[] => [
  {
    key: `${place}${shot}${clients}CpuMs`,
    label: `${shot}, clients: ${clients}, ${WORDS[place]}: CPU ms/run`,
    digits: 2,
  },
  { key: `${place}${shot}${clients}ServerCpuMs`, label: '  CPU of the server, ms/run', digits: 2 },
  { key: `${place}${shot}${clients}Commits`, label: '  transactions/run', digits: 1 },
  { key: `${place}${shot}${clients}P50Ms`, label: '  p50, ms', digits: 1 },
  { key: `${place}${shot}${clients}P99Ms`, label: '  p99, ms', digits: 1 },
];

export const POSTGRES_ROWS: readonly Row[] = [
  ...Object.keys(SHOTS).flatMap((shot) =>
    CLIENTS.flatMap((clients) => PLACES.flatMap((place) => rowsOf(shot, clients, place))),
  ),
  ...PLACES.flatMap((place): Row[] => [
    { key: `${place}FirstTextP50Ms`, label: `first text, one client, ${WORDS[place]}: p50, ms`, digits: 1 },
    { key: `${place}DeltaP50Ms`, label: '  deltas of paced streams, p50, ms', digits: 1 },
    { key: `${place}DeltaP99Ms`, label: '  p99, ms', digits: 1 },
  ]),
  { key: 'largeEvents', label: 'many sessions: events', digits: 0 },
  { key: 'largeCopySeconds', label: '  copy from SQLite, s', digits: 1 },
  { key: 'largeStartMs', label: '  start, ms', digits: 0 },
  ...Object.keys(SHOTS).flatMap((shot) => rowsOf(shot, LARGE_CLIENTS, 'large')),
];
