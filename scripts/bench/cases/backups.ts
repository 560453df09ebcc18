// What backups cost the runs meanwhile, and how fast they are next to the plain tools for the same bytes.
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Connection from 'better-sqlite3';
import { makeClient } from '../../../src/client/client.ts';
import { makeCaller } from '../calls.ts';
import { callInLoop, pause, quantile } from '../load.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import type { Figures } from './scale.ts';

const run = promisify(execFile);
const CLIENTS = 16;
const MIB = 1_048_576;
const DATABASE_MB = 200;
const FILES = 2_000;
const FILE_BYTES = 65_536;
const POLL_MS = 100;
const ROOMY = 'workers: { threads: 1, runs_per_thread: 64 }\n';

interface Parts {
  readonly modelUrl: string;
  readonly scratch: string;
  readonly failures: string[];
}

/** In short turns, so that what else the machine does meets both sides alike. */
const TURNS = ['alone', 'beside', 'beside', 'alone', 'alone', 'beside', 'beside', 'alone'] as const;

/** Measures runs for four times `forMs` in all, half of it during backups. */
export async function measureBackups({ modelUrl, scratch, failures }: Parts, forMs: number): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch, ROOMY);
  const caller = makeCaller({ ...errand.target, headers: { 'x-api-key': errand.daemon.apiKey } }, CLIENTS);
  const body = { model: 'm', messages: [{ role: 'user', content: 'Tell it. [[deltas=20 every=5]]' }] };
  const turn = () => caller.call({ method: 'POST', path: '/openapi/v1/messages', body, expect: 200 });
  const phase = async () => {
    const { results, failures: failed, seconds } = await callInLoop(CLIENTS, { forMs: forMs / 2 }, turn);
    failures.push(...failed);
    return { times: results.map(({ tookMs }) => tookMs), seconds };
  };
  const during = async () => {
    const busy = new AbortController();
    const backups = backUpUntil(errand, scratch, busy.signal);
    const found = await phase();
    busy.abort();
    await backups;
    return found;
  };
  try {
    await fill(errand);
    await phase();
    const found = { alone: { times: [] as number[], seconds: 0 }, beside: { times: [] as number[], seconds: 0 } };
    for (const side of TURNS) {
      const { times, seconds } = await (side === 'alone' ? phase() : during());
      found[side].times.push(...times);
      found[side].seconds += seconds;
    }
    const { alone, beside } = found;
    const plain = await plainTools(errand, scratch);
    return {
      backupRunsAlonePerSecond: alone.times.length / alone.seconds,
      backupRunsPerSecond: beside.times.length / beside.seconds,
      backupRunsAloneP99Ms: quantile(alone.times, 0.99),
      backupRunsP99Ms: quantile(beside.times, 0.99),
      backupMbPerSecond: await speedOf(errand, join(scratch, 'speed')),
      backupAgainMbPerSecond: await speedOf(errand, join(scratch, 'speed')),
      ...plain,
    };
  } finally {
    await caller.close();
    await errand.close();
  }
}

const sizeMb = () => DATABASE_MB + (FILES * FILE_BYTES) / MIB;

/** A database and a workspace of some size. */
async function fill({ daemon }: ErrandServer): Promise<void> {
  const connection = new Connection(join(daemon.dataDir, 'errand.db'), { timeout: 60_000 });
  connection.exec('CREATE TABLE filler (bytes BLOB)');
  const insert = connection.prepare('INSERT INTO filler VALUES (?)');
  for (let i = 0; i < DATABASE_MB; i += 1) insert.run(randomBytes(MIB));
  const [first] = ((await daemon.admin('GET', '/api/v1/sessions')) as { items: { session_id: string }[] }).items;
  connection.close();
  const folder = join(daemon.dataDir, 'workspaces', first?.session_id ?? '', 'many');
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < FILES; i += 1) writeFileSync(join(folder, String(i)), randomBytes(FILE_BYTES));
}

async function backUp({ daemon }: ErrandServer, directory: string): Promise<void> {
  const { backups } = makeClient({ socketPath: daemon.socketPath });
  await backups.create({ directory });
  for (;;) {
    const job = await backups.latest();
    if (job.state === 'failed') throw new Error(job.error ?? 'The backup failed.');
    if (job.state === 'completed') return;
    await pause(POLL_MS);
  }
}

/** Each into a new place, as if it were the first. */
async function backUpUntil(errand: ErrandServer, scratch: string, signal: AbortSignal): Promise<void> {
  const place = join(scratch, 'busy');
  while (!signal.aborted) {
    await backUp(errand, place);
    rmSync(place, { recursive: true });
  }
}

async function speedOf(errand: ErrandServer, place: string): Promise<number> {
  const begun = performance.now();
  await backUp(errand, place);
  return (sizeMb() * 1_000) / (performance.now() - begun);
}

/** SQLite's own backup of the database, and tar of the workspaces, each synced. */
async function plainTools({ daemon }: ErrandServer, scratch: string): Promise<Figures> {
  const [copy, archive] = [join(scratch, 'plain.db'), join(scratch, 'plain.tar')];
  const begun = performance.now();
  const connection = new Connection(join(daemon.dataDir, 'errand.db'), { readonly: true });
  await connection.backup(copy);
  connection.close();
  await run('tar', ['cf', archive, '-C', daemon.dataDir, 'workspaces', 'blobs']);
  await run('sync', [copy, archive]);
  const figures = { backupPlainMbPerSecond: (sizeMb() * 1_000) / (performance.now() - begun) };
  for (const path of [copy, archive]) rmSync(path);
  return figures;
}
