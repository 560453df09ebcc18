// Finding a Chromium that starts in the sandbox, and saying why there is none.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findChromium } from '../../../src/agent/browser/find-chromium.ts';
import { chromium, sandbox } from '../../support/agent/browser-run.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

function aFile(content: string, mode: number): string {
  const folder = temporaryDirectory();
  chmodSync(folder, 0o755);
  const file = join(folder, 'chromium');
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

test('without a sandbox no browser is available', async () => {
  expect(await findChromium(null, '')).toEqual({ ok: false, why: 'it has no sandbox to run in.' });
});

describe.skipIf(sandbox === null)('with a sandbox', () => {
  test.skipIf(!chromium.ok)('the one of this machine is found and reports its version', async () => {
    expect(await findChromium(sandbox, '')).toEqual({
      ok: true,
      executable: expect.stringMatching(/^\//),
      version: expect.stringMatching(/^(Chromium|Google Chrome) \d+/),
    });
  });

  test.each([
    [
      'a script for desktops',
      '#!/bin/sh\nexec chromium',
      0o755,
      /is a script that starts a browser; name the program itself/,
    ],
    ['a file that is not a program', 'hello', 0o644, /is not a program that the daemon can start/],
    ['a program that does not run', '\x7fELF and no more', 0o755, /did not start in the sandbox/],
  ])('%s is refused', async (_, content, mode, why) => {
    const file = aFile(content, mode);
    expect(await findChromium(sandbox, file)).toEqual({ ok: false, why: expect.stringMatching(why) });
  });

  test('a name that is not there is refused', async () => {
    expect(await findChromium(sandbox, '/nowhere/chromium')).toEqual({
      ok: false,
      why: '/nowhere/chromium is not a program that the daemon can start.',
    });
  });
});
