import { expect, test } from 'vitest';
import { countBlobs } from '../../src/doctor/count-blobs.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const keys = Array.from({ length: 2_001 }, (_, at) => at.toString(16).padStart(64, '0'));

/** Rows that name all keys while they are read, and only some of them afterwards. */
function rowsOf(isNamed: (key: string) => boolean) {
  const after = async (last: string, limit: number) =>
    keys
      .filter((key) => key > last)
      .slice(0, limit)
      .map((key) => ({ key, size: 1, rowSize: null }));
  return { after, isNamed: async (key: string) => isNamed(key) };
}

test('files that are removed with their rows while they are looked at are not missing', async () => {
  const directory = temporaryDirectory();
  const [gone] = keys;
  const counted = await countBlobs(
    rowsOf((key) => key !== gone),
    { directory, bucket: null },
    Number.POSITIVE_INFINITY,
  );
  expect(counted).toMatchObject({ named: 2_001, missing: 2_000, isWhole: true });
  expect(counted.examples).toEqual(keys.slice(1, 6));
  expect(
    await countBlobs(
      rowsOf(() => false),
      { directory, bucket: null },
      2_000,
    ),
  ).toMatchObject({ named: 2_000, missing: 0, isWhole: false });
});

test('of a bucket, what has no copy is not missing, and some keys are taken as a sample', async () => {
  const places = { directory: temporaryDirectory(), bucket: 's3://files/' };
  const counted = await countBlobs(
    rowsOf(() => true),
    places,
    Number.POSITIVE_INFINITY,
  );
  expect(counted).toMatchObject({ named: 2_001, missing: 2_001, examples: [], bucket: 's3://files/' });
  expect(new Set(counted.sample).size).toBe(50);
});
