// Checks of the bucket that has the bytes of files: whether it does all that the daemon asks of it, and has what rows name.
import { createHash, randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blobTargetOf } from '../../config/blob-target.ts';
import { makeTemporaryFolder } from '../../disk/temporary-folder.ts';
import { type Bucket, makeBucket } from '../../files/blobs/s3/bucket.ts';
import { S3Error } from '../../files/blobs/s3/s3-error.ts';
import { locationOf, type S3Target } from '../../files/blobs/s3/target.ts';
import { type Check, type CheckResult, failed, ok, skipped } from '../check.ts';
import { byHand } from '../remedies.ts';
import type { Subject } from '../subject.ts';

const REMEDY = byHand('docs/S3.md says what the bucket and its key must allow; errand config show has the settings');
const PROBE_BYTES = 1_000;

const bucket: Check = {
  id: 'bucket',
  title: 'The bucket of files',
  examine: async (subject) => {
    const { settings, locations, unresolved } = subject;
    const target = blobTargetOf(settings(), locations);
    if (target === null) return skipped('files are in the data directory');
    if (unresolved.size > 0) return skipped(`only the service can read ${[...unresolved].join(', ')}`);
    const opened = makeBucket({ target, clock: subject.clock });
    try {
      return await examine(subject, target, opened);
    } catch (error) {
      if (error instanceof S3Error) return failed(`${locationOf(target)}: ${error.message}`, REMEDY);
      throw error;
    } finally {
      await opened.close();
    }
  },
};

async function examine({ scan }: Subject, target: S3Target, opened: Bucket): Promise<CheckResult> {
  const fault = await probe(opened);
  if (fault !== null) return failed(`${locationOf(target)} ${fault}`, REMEDY);
  const seen = await scan();
  const sample = seen.ok ? seen.blobs.sample : [];
  const lost: string[] = [];
  for (const key of sample) if ((await opened.sizeOf(key)) === null) lost.push(key);
  if (lost.length > 0)
    return failed(
      `${locationOf(target)} lacks ${lost.length} of ${sample.length} objects that rows name, such as ${lost[0]}`,
      byHand(
        'bring back their versions in the bucket; errand blobs copy --to s3, while the daemon is stopped, puts those that have a local copy',
      ),
    );
  return ok(`${locationOf(target)} stores, gives, lists and removes objects, and has ${sample.length} that rows name`);
}

/** Stores an object and removes it. Returns what was wrong; null when nothing was. */
async function probe(opened: Bucket): Promise<string | null> {
  const folder = await makeTemporaryFolder('bucket');
  const bytes = randomBytes(PROBE_BYTES);
  const key = createHash('sha256').update(bytes).digest('hex');
  try {
    const path = join(folder, key);
    writeFileSync(path, bytes);
    await opened.put({ key, path, size: bytes.length });
    const read = await readWhole(opened, key);
    const before = (BigInt(`0x${key}`) - 1n).toString(16).padStart(key.length, '0');
    const { value: listed } = await opened.list(before).next();
    await opened.remove(key);
    if (!read.equals(bytes)) return 'gives other bytes than it was given';
    return listed?.key === key ? null : 'does not list an object that it has';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readWhole(opened: Bucket, key: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await opened.get({ key, offset: () => 0 }, async ({ body }) => {
    chunks.length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

export const BUCKET_CHECKS: readonly Check[] = [bucket];
