// The cases of files, in this process: snapshots of a workspace, archives compared with the system's own programs, memory
// for large ones.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../src/domain/clock.ts';
import { openBlobStore } from '../../../src/files/blobs/blobs.ts';
import type { SmallBlobRows } from '../../../src/files/blobs/small-content.ts';
import { type SnapshotThread, makeSnapshotThread } from '../../../src/files/snapshots/snapshot-thread.ts';
import type { SnapshotFile } from '../../../src/files/snapshots/snapshot.ts';
import { makeFileHandler } from '../../../src/http/files/signed-files.ts';
import { NO_SPOOLED_STRINGS } from '../../../src/http/body/spooled-strings.ts';
import { makeLog } from '../../../src/log/log.ts';
import type { Figures, Scale } from './scale.ts';
import { pause } from '../load.ts';
import { memoryMbOf } from '../process-figures.ts';

const LIMITS = { maxFileBytes: 2 ** 40, maxFiles: 1_000_000, maxTotalBytes: 2 ** 40, maxDepth: 64 };
const DEADLINE_MS = 3_600_000;
/** Hashes are cached for files that changed longer ago than this. */
const SETTLED_MS = 2_100;
const CHANGED = 10;

interface Fixture {
  readonly directory: string;
  readonly blobs: Awaited<ReturnType<typeof openBlobStore>>;
  readonly snapshotThread: SnapshotThread;
  readonly say: (text: string) => void;
}

/** Nothing is recorded here. */
const NO_ROWS: SmallBlobRows = {
  find: async () => undefined,
  findSome: async () => new Map(),
  listUses: async () => [],
  remove: async () => true,
};

/** Runs every case in a directory of `scratch`. */
export async function measureFiles(scratch: string, scale: Scale, say: (text: string) => void): Promise<Figures> {
  const directory = join(scratch, 'files');
  const blobsDir = join(directory, 'blobs');
  mkdirSync(directory);
  const blobs = await openBlobStore(blobsDir, NO_ROWS);
  const { readSmall } = blobs;
  const parts = { directory: join(directory, 'snapshots'), blobs: blobsDir, readSmall, clock: systemClock };
  const snapshotThread = makeSnapshotThread({ ...parts, log: makeLog({ level: 'error' }) });
  const fixture: Fixture = { directory, blobs, snapshotThread, say };
  try {
    return {
      ...(await snapshots(fixture, scale.files, 'snapshot')),
      ...(await snapshots(fixture, scale.crowd, 'crowd')),
      ...(await archives(fixture, scale.packedMb)),
    };
  } finally {
    await snapshotThread.stop();
  }
}

/** The first snapshot, which stores everything, and the next after a few files have changed. */
async function snapshots({ directory, blobs, snapshotThread }: Fixture, count: number, name: string): Promise<Figures> {
  const root = join(directory, name);
  const pathOf = (i: number) => join(root, `d${i % 97}`, `e${i % 7}`, `file-${i}.txt`);
  for (let i = 0; i < count; i += 1) {
    mkdirSync(dirname(pathOf(i)), { recursive: true });
    writeFileSync(pathOf(i), `File ${i}. ${'All work and no play. '.repeat(i % 200)}\n`);
  }
  await pause(SETTLED_MS);
  const hold = blobs.hold();
  const take = () =>
    snapshotThread.takeSnapshot({ sessionId: name, root, limits: LIMITS, hold, deadlineMs: DEADLINE_MS });
  const [firstMs, first] = await timed(take);
  if (first.files.length !== count) throw new Error(`${first.files.length} files were found in place of ${count}.`);
  const at = (i: number) => pathOf(Math.floor((i * count) / CHANGED));
  for (let i = 0; i < CHANGED; i += 1) writeFileSync(at(i), `Changed: ${i}.`);
  const [nextMs, next] = await timed(take);
  const before = new Map(first.files.map(({ path, sha256 }) => [path, sha256]));
  const changed = next.files.filter(({ path, sha256 }) => before.get(path) !== sha256).length;
  if (changed !== CHANGED) throw new Error(`${changed} changes were seen in place of ${CHANGED}.`);
  hold.release();
  rmSync(root, { recursive: true });
  return { [`${name}Files`]: count, [`${name}FirstMs`]: firstMs, [`${name}NextMs`]: nextMs };
}

/** Text without much repetition, which compresses about as well as source code. */
function textOf(bytes: number): Buffer {
  const text = Buffer.alloc(bytes);
  let [state, at] = [1, 0];
  while (at < bytes) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    at += text.write(` word${(state >>> 8) % 5_000}`, at, 'latin1') || bytes;
  }
  return text;
}

/** Megabytes a second of packing, here and by the system's programs, and what memory it takes to pack and to send. */
async function archives({ directory, blobs, snapshotThread, say }: Fixture, megabytes: number): Promise<Figures> {
  const root = join(directory, 'large');
  const size = 8 * 1_048_576;
  const piece = textOf(size);
  const hold = blobs.hold();
  const files: SnapshotFile[] = [];
  mkdirSync(root);
  for (let i = 0; i < megabytes / 8; i += 1) {
    piece.write(`piece ${i} `, 0);
    writeFileSync(join(root, `${i}.txt`), piece);
    files.push({ path: `/${i}.txt`, size, sha256: await hold.put(piece) });
  }
  const figures: Figures = { packedMb: megabytes };
  const order = { files, hold, deadlineMs: DEADLINE_MS };
  const perSecond = (ms: number) => (megabytes * 1_000) / ms;
  const tar = await withMemory(() => snapshotThread.packTarGz(order));
  const zip = await withMemory(() => snapshotThread.packZip(order));
  Object.assign(figures, { tarGzMbPerSecond: perSecond(tar.ms), tarGzMemoryMb: tar.grownMb });
  Object.assign(figures, { zipMbPerSecond: perSecond(zip.ms), zipMemoryMb: zip.grownMb });
  for (const [key, program, args] of [
    ['plainTarMbPerSecond', 'tar', ['czf', join(directory, 'plain.tar.gz'), '-C', root, '.']],
    ['plainZipMbPerSecond', 'zip', ['-qr', join(directory, 'plain.zip'), root]],
  ] as const) {
    const [ms, ran] = await timed(() => run(program, args));
    if (ran) figures[key] = perSecond(ms);
    else say(`without a comparison: ${program} is not installed`);
  }
  const whole = join(directory, 'whole');
  await run('sh', ['-c', `cat ${root}/*.txt > ${whole}`]);
  const { files: one } = await snapshotThread.takeSnapshot({
    ...order,
    sessionId: 'large',
    root: directory,
    limits: LIMITS,
    hold,
  });
  const key = one.find(({ path }) => path === '/whole')!.sha256;
  const sent = await withMemory(() => sendOnce(blobs, key));
  if (sent.result !== statSync(whole).size) throw new Error('The file was not sent whole.');
  return { ...figures, sendMbPerSecond: perSecond(sent.ms), sendMemoryMb: sent.grownMb };
}

/** Sends a blob over a connection of this process to itself; returns how many bytes arrived. */
async function sendOnce(blobs: Fixture['blobs'], key: string): Promise<number> {
  const grant = { key, sessionId: '', name: 'a.bin', disposition: 'attachment', expiresAt: 0 } as const;
  const presentation = { disposition: 'attachment', contentType: 'application/octet-stream' } as const;
  const openFile = async () => ({ grant, presentation, key, blob: await blobs.open(key) });
  const handle = makeFileHandler({ openFile }, systemClock);
  const asking = {
    params: {},
    bases: { own: '', shares: '' },
    query: '',
    body: {},
    spooled: NO_SPOOLED_STRINGS,
    takeRoom: () => undefined,
    letGoOfBody: async () => undefined,
    admit: async () => undefined,
    pause: async () => undefined,
  };
  const server = createServer((req, res) => void handle({ ...asking, req, res }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await new Promise<number>((resolve, reject) => {
      let bytes = 0;
      get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false }, (res) => {
        res.on('data', (chunk: Buffer) => (bytes += chunk.length));
        res.on('end', () => resolve(bytes)).on('error', reject);
      }).on('error', reject);
    });
  } finally {
    server.close();
  }
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [ms: number, result: T]> {
  const startedAt = performance.now();
  const result = await work();
  return [performance.now() - startedAt, result];
}

/** Runs some work, and returns by how much this process grew at most meanwhile. */
async function withMemory<T>(work: () => Promise<T>): Promise<{ ms: number; result: T; grownMb: number }> {
  const before = memoryMbOf(process.pid, 'VmRSS');
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, memoryMbOf(process.pid, 'VmRSS'))), 20);
  try {
    const [ms, result] = await timed(work);
    return { ms, result, grownMb: most - before };
  } finally {
    clearInterval(timer);
  }
}

/** Whether a program exists and succeeded. */
async function run(program: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit').catch(() => [null])) as [number | null];
  return code === 0;
}
