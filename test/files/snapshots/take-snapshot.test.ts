// What a look says of names while somebody else adds files.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePace } from '../../../src/files/snapshots/pace.ts';
import { takeSnapshot } from '../../../src/files/snapshots/take-snapshot.ts';
import { LIMITS } from '../../support/files/snapshot-house.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

test.each([
  ['all files', null],
  ['one', ['/a']],
])('a file that comes after a look at %s is not among its names', async (_, paths) => {
  const directory = temporaryDirectory();
  const [root, blobs] = [join(directory, 'workspace'), join(directory, 'blobs')];
  for (const folder of [root, join(blobs, 'incoming')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, 'a'), 'one');
  const found: string[] = [];
  const pace = makePace(30_000);
  const place = { root, blobs, scratch: join(blobs, 'incoming', 'x'), hashedPath: join(directory, 'hashes') };
  const { names } = await takeSnapshot(
    {
      kind: 'snapshot',
      ...place,
      limits: LIMITS,
      keep: true,
      paths,
      since: null,
      deadlineMs: 30_000,
      holdsFirst: false,
    },
    {
      pace,
      // All have been found by now.
      report: async (files) => {
        found.push(...files.map(({ path }) => path));
        writeFileSync(join(root, 'b'), 'two');
      },
    },
  );
  pace.stop();
  expect(found).toEqual(['/a']);
  expect(names).toMatchObject({ count: 1 });
});
