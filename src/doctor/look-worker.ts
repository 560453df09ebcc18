// The thread that looks into the database and at the blobs. Its one message is the result.
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../domain/errors.ts';
import { blobPath } from '../files/blobs/blob-place.ts';
import { openCopy } from '../store/copies/database-copy.ts';
import { inspect } from '../store/inspection/inspect.ts';
import type { BlobCount, Look, LookTask } from './look.ts';

const GIGABYTE = 1_073_741_824;
/** A usual look searches a database up to this size for damage. */
const MAX_CHECKED_BYTES = 2 * GIGABYTE;
/** And looks at so many blobs. */
const MAX_BLOBS = 200_000;
const MAX_EXAMPLES = 5;

parentPort?.postMessage(look(workerData as LookTask), []);

function look({ file, blobs, silentSince, full }: LookTask): Look {
  try {
    const maxCheckedBytes = full ? Number.POSITIVE_INFINITY : MAX_CHECKED_BYTES;
    const database = inspect({ file, maxCheckedBytes, silentSince });
    return { ok: true, database, blobs: countBlobs(file, blobs, full ? Number.POSITIVE_INFINITY : MAX_BLOBS) };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

function countBlobs(file: string, directory: string, limit: number): BlobCount {
  const copy = openCopy(file);
  const counted = { named: 0, missing: 0, wrong: 0, examples: [] as string[], isWhole: true };
  try {
    for (const { key, size } of copy.blobs()) {
      if (counted.named === limit) return { ...counted, isWhole: false };
      counted.named += 1;
      const found = statSync(blobPath(directory, key), { throwIfNoEntry: false });
      if (found === undefined) counted.missing += 1;
      else if (size !== null && found.size !== size) counted.wrong += 1;
      else continue;
      if (counted.examples.length < MAX_EXAMPLES) counted.examples.push(key);
    }
    return counted;
  } finally {
    copy.close();
  }
}
