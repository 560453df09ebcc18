// A process that takes snapshots and packs archives without end, to be killed in the middle of it.
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/domain/clock.ts';
import { openBlobStore } from '../../../src/files/blobs/blobs.ts';
import { makeSnapshotThread } from '../../../src/files/snapshots/snapshot-thread.ts';
import { NO_ROWS } from '../../support/files/blobs-in-files.ts';
import { makeLog } from '../../../src/log/log.ts';

const [, , directory = ''] = process.argv;
const blobsDir = join(directory, 'blobs');
const root = join(directory, 'workspace');
mkdirSync(root, { recursive: true });
const blobs = await openBlobStore(blobsDir, NO_ROWS);
const parts = {
  directory: join(directory, 'snapshots'),
  blobs: blobsDir,
  readSmall: blobs.readSmall,
  clock: systemClock,
  log: makeLog({ level: 'fatal' }),
};
const snapshotThread = makeSnapshotThread(parts);
const limits = { maxFileBytes: 1e9, maxFiles: 1e5, maxTotalBytes: 1e12, maxDepth: 64 };

for (;;) {
  const hold = blobs.hold();
  for (let i = 0; i < 20; i += 1) writeFileSync(join(root, `f${i}`), randomBytes(1 + ((i * 7_919) % 90_000)));
  process.stdout.write('writing\n');
  const { files } = await snapshotThread.takeSnapshot({ sessionId: 's', root, limits, hold, deadlineMs: 30_000 });
  process.stdout.write('taken\n');
  await Promise.all([
    snapshotThread.packTarGz({ files, hold, deadlineMs: 30_000 }),
    snapshotThread.packZip({ files, hold, deadlineMs: 30_000 }),
  ]);
  process.stdout.write('packed\n');
  hold.release();
}
