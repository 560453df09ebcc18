// The thread that scans the database and the blobs. Its one message is the result.
import { parentPort, workerData } from 'node:worker_threads';
import { GB } from '../domain/byte-units.ts';
import { messageOf } from '../domain/errors.ts';
import { inspect } from '../store/inspection/inspect.ts';
import { openNamedBlobs } from '../store/inspection/named-blobs.ts';
import { countBlobs } from './count-blobs.ts';
import { countOrphans } from './count-orphans.ts';
import type { Scan, ScanTask } from './scan.ts';

/** From this size on, only a full scan searches a database for damage. */
const LARGE_BYTES = 2 * GB;
/** A usual scan looks at so many blobs. */
const MAX_BLOBS = 200_000;

parentPort?.postMessage(await scan(workerData as ScanTask), []);

async function scan(task: ScanTask): Promise<Scan> {
  const { file, blobs, full } = task;
  const limit = full ? Number.POSITIVE_INFINITY : MAX_BLOBS;
  try {
    const database = inspect({ ...task, largeBytes: LARGE_BYTES });
    const rows = openNamedBlobs(file);
    try {
      const counted = countBlobs(rows, blobs, limit);
      return { ok: true, database, blobs: counted, orphans: await countOrphans(task, rows, limit) };
    } finally {
      rows.close();
    }
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}
