// The thread that scans the database and the blobs. Its one message is the result.
import { parentPort, workerData } from 'node:worker_threads';
import { GB } from '../domain/byte-units.ts';
import { messageOf } from '../domain/errors.ts';
import { inspect } from '../store/inspection/inspect.ts';
import { makeNamedBlobs } from '../store/inspection/named-blobs.ts';
import { openInspector } from '../store/inspection/open-inspector.ts';
import { locationOf } from '../store/location.ts';
import { countBlobs } from './count-blobs.ts';
import { countOrphans } from './count-orphans.ts';
import type { Scan, ScanTask } from './scan.ts';

/** From this size on, only a full scan searches a database for damage. */
const LARGE_BYTES = 2 * GB;
/** A usual scan looks at so many blobs. */
const MAX_BLOBS = 200_000;

parentPort?.postMessage(await scan(workerData as ScanTask), []);

async function scan(task: ScanTask): Promise<Scan> {
  const { blobs, full } = task;
  const limit = full ? Number.POSITIVE_INFINITY : MAX_BLOBS;
  try {
    const store = await openInspector(locationOf(task.store));
    try {
      const database = await inspect(store, { ...task, largeBytes: LARGE_BYTES });
      const rows = makeNamedBlobs(store);
      // The tables of an older schema are others.
      const bucket = database.isUsable ? await rows.bucket() : null;
      const counted = await countBlobs(rows, { directory: blobs, bucket }, limit);
      return { ok: true, database, blobs: counted, orphans: await countOrphans(task, rows, limit) };
    } finally {
      await store.close();
    }
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}
