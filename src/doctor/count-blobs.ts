// Compares the blobs that rows name with the rows and files that are there.
import { statSync } from 'node:fs';
import { blobPath } from '../files/blobs/blob-place.ts';
import type { NamedBlob } from '../store/copies/database-copy.ts';
import type { NamedBlobs } from '../store/inspection/named-blobs.ts';
import type { BlobCount } from './scan.ts';

const BLOBS_PER_READ = 2_000;
const MAX_EXAMPLES = 5;

type Rows = Pick<NamedBlobs, 'after' | 'isNamed'>;

/** Counts up to `limit` of them. What is removed meanwhile, row and file, isn't missing. */
export async function countBlobs(rows: Rows, directory: string, limit: number): Promise<BlobCount> {
  const counted = { named: 0, missing: 0, wrong: 0, examples: [] as string[], isWhole: true };
  for await (const { key, size, rowSize } of eachBlob(rows)) {
    if (counted.named === limit) return { ...counted, isWhole: false };
    counted.named += 1;
    const found = rowSize ?? statSync(blobPath(directory, key), { throwIfNoEntry: false })?.size;
    const isMissing = found === undefined;
    if (!isMissing && (size === null || found === size)) continue;
    if (isMissing && !(await rows.isNamed(key))) continue;
    counted[isMissing ? 'missing' : 'wrong'] += 1;
    if (counted.examples.length < MAX_EXAMPLES) counted.examples.push(key);
  }
  return counted;
}

async function* eachBlob(rows: Rows): AsyncGenerator<NamedBlob> {
  for (let last = ''; ; ) {
    const some = await rows.after(last, BLOBS_PER_READ);
    yield* some;
    if (some.length < BLOBS_PER_READ) return;
    last = some.at(-1)!.key;
  }
}
