import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bundleForBrowsers } from '../../scripts/package/browser.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

test('what a browser loads is under 40 KB compressed, and asks for nothing else', { tags: ['G25'] }, async () => {
  const directory = temporaryDirectory();
  await bundleForBrowsers(directory);
  const files = ['office.js', 'office.css'].map((name) => readFileSync(path.join(directory, 'browser', name)));
  const weight = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(weight).toBeLessThan(40_000);
  const text = Buffer.concat(files).toString();
  expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
  expect(text).not.toMatch(/from"|import\(|@import|url\(/);
  expect(text.match(/https?:\/\/[^"'`\s)]*/g)?.filter((address) => address !== 'http://www.w3.org/2000/svg')).toEqual(
    [],
  );
});
