import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { adviceOnDescriptors } from '../../../src/files/descriptor-limit.ts';
import { makeWriteWatch } from '../../../src/files/blobs/write-watch.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

test('a directory that refuses files is reported by the error code, until it accepts them again', async () => {
  const directory = join(temporaryDirectory(), 'blobs');
  const clock = fakeClock();
  const watch = makeWriteWatch(directory, clock);
  await waitFor(() => watch.fault() === 'ENOENT');
  mkdirSync(directory);
  expect(watch.fault()).toBe('ENOENT');
  await waitFor(() => {
    clock.advance(5_000);
    return watch.fault() === null;
  });
  await waitFor(() => readdirSync(directory).length === 0);
});

test.each([
  ['1024', /only 1024 files.*LimitNOFILE.*ulimit -n/],
  ['4096', null],
  ['unlimited', null],
])('a limit of %s open files', (soft, advice) => {
  const limits = `Limit   Soft Limit  Hard Limit  Units\nMax open files            ${soft}      524288    files\n`;
  if (advice === null) expect(adviceOnDescriptors(limits)).toBeNull();
  else expect(adviceOnDescriptors(limits)).toMatch(advice);
});
