import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openPager } from '../../../src/tui/terminal/pager.ts';

function place(): string {
  const directory = mkdtempSync('/tmp/errand-pager-');
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'text');
}

const never = new AbortController().signal;
const environment = (pager: string) => ({ PATH: process.env['PATH'], PAGER: pager });

test('the pager gets the text; what a terminal would obey is escaped', async () => {
  const path = place();
  const text = ['one\r\n', 'two\u001b[31m\u0007\u009b2J\u202e three\t4\n'];
  expect(await openPager(text, { environment: environment(`dd status=none of=${path}`), signal: never })).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\\u001b[31m\\u0007\\u009b2J\\u202e three\t4\n');
});

test('no shell reads PAGER, and the pager knows that it is to run nothing', async () => {
  const path = place();
  const parts = { environment: environment(`true >${path}`), signal: never };
  await openPager([], parts);
  expect(() => readFileSync(path)).toThrow('ENOENT');
  await openPager([], { environment: environment(`cp /proc/self/environ ${path}`), signal: never });
  expect(readFileSync(path, 'utf8')).toContain('LESSSECURE=1');
});

test('one that is not there is told, and one that leaves early is no failure', async () => {
  const missing = await openPager(['x'], { environment: environment('/nowhere/less'), signal: never });
  expect(missing).toContain('/nowhere/less');
  const endless = (function* () {
    for (;;) yield 'x'.repeat(10_000);
  })();
  expect(await openPager(endless, { environment: environment('true'), signal: never })).toBeNull();
});
