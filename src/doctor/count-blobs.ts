// Compares the blobs that rows name with the rows and files that are there.
import { randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { blobPath } from '../files/blobs/blob-place.ts';
import type { NamedBlob } from '../store/copies/database-copy.ts';
import type { NamedBlobs } from '../store/inspection/named-blobs.ts';
import type { BlobCount } from './scan.ts';

const BLOBS_PER_READ = 2_000;
const MAX_EXAMPLES = 5;

/** Keys that a bucket is asked for. */
const SAMPLE = 50;

interface Places {
  readonly directory: string;
  /** That has the bytes; null without one. */
  readonly bucket: string | null;
}

type Rows = Pick<NamedBlobs, 'after' | 'isNamed'>;

/** Counts up to `limit` of them. What is removed meanwhile, row and file, isn't missing. */
export async function countBlobs(rows: Rows, { directory, bucket }: Places, limit: number): Promise<BlobCount> {
  const counted = { named: 0, missing: 0, wrong: 0, examples: [] as string[], isWhole: true, bucket };
  const sample: string[] = [];
  let inBucket = 0;
  for await (const { key, size, rowSize } of eachBlob(rows)) {
    if (counted.named === limit) return { ...counted, isWhole: false, sample };
    counted.named += 1;
    if (bucket !== null && rowSize === null) takeSample(sample, key, (inBucket += 1));
    const found = rowSize ?? statSync(blobPath(directory, key), { throwIfNoEntry: false })?.size;
    const isMissing = found === undefined;
    if (!isMissing && (size === null || found === size)) continue;
    if (isMissing && bucket === null && !(await rows.isNamed(key))) continue;
    counted[isMissing ? 'missing' : 'wrong'] += 1;
    if (isMissing && bucket !== null) continue;
    if (counted.examples.length < MAX_EXAMPLES) counted.examples.push(key);
  }
  return { ...counted, sample };
}

/** Each of so many is in the sample with the same probability. */
function takeSample(sample: string[], key: string, seen: number): void {
  const place = sample.length < SAMPLE ? sample.length : randomInt(seen);
  if (place < SAMPLE) sample[place] = key;
}

async function* eachBlob(rows: Rows): AsyncGenerator<NamedBlob> {
  for (let last = ''; ; ) {
    const some = await rows.after(last, BLOBS_PER_READ);
    yield* some;
    if (some.length < BLOBS_PER_READ) return;
    last = some.at(-1)!.key;
  }
}
