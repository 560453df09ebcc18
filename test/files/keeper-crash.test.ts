// A daemon that is killed while it keeps files leaves none that is not whole.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openBlobStore } from '../../src/files/blobs.ts';
import { sha256 } from '../support/keeper-house.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('./keeper-main.ts', import.meta.url));

test('killed at any moment, every blob is what its name says, and what was half-written goes at the next start', async () => {
  const directory = temporaryDirectory();
  const blobsDir = join(directory, 'blobs');
  let leftovers = 0;
  for (let round = 0; round < 7; round += 1) {
    const child = spawn(process.execPath, [MAIN, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const lines = createInterface(child.stdout);
    let seen = 0;
    for await (const line of lines) if (line !== '' && (seen += 1) > round) break;
    child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
    leftovers += readdirSync(join(blobsDir, 'incoming')).length;
    const blobs = await openBlobStore(blobsDir);
    expect(readdirSync(join(blobsDir, 'incoming'))).toEqual([]);
    for await (const key of blobs.list()) expect(sha256(readFileSync(join(blobsDir, key.slice(0, 2), key)))).toBe(key);
  }
  // Otherwise nobody was killed in the middle of anything.
  expect(leftovers).toBeGreaterThan(0);
}, 60_000);
