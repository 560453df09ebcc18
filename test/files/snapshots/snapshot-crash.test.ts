// A daemon that is killed while it keeps files leaves none that is not whole.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openBlobStore } from '../../../src/files/blobs/blobs.ts';
import { sha256 } from '../../support/files/snapshot-fixture.ts';
import { NO_ROWS } from '../../support/files/blobs-in-files.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const MAIN = fileURLToPath(new URL('./snapshot-main.ts', import.meta.url));

/** The state of each thread of a process, as /proc has it. */
const statesOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).map(
    (id) => readFileSync(`/proc/${pid}/task/${id}/stat`, 'latin1').split(') ')[1]![0],
  );

/** Stops a process so that it is in the middle of writing: what is stopped can't come to an end before it is killed. */
async function stopInTheMiddle(child: ChildProcess, incoming: string): Promise<void> {
  const isWriting = () => readdirSync(incoming).length > 0;
  await waitFor(
    async () => {
      if (!isWriting()) return false;
      child.kill('SIGSTOP');
      await waitFor(() => statesOf(child.pid!).every((state) => state === 'T'), { everyMs: 1 });
      if (isWriting()) return true;
      child.kill('SIGCONT');
      return false;
    },
    { everyMs: 1 },
  );
}

test('killed at any moment, every blob is what its name says, and what was half-written goes at the next start', async () => {
  const directory = temporaryDirectory();
  const blobsDir = join(directory, 'blobs');
  const incoming = join(blobsDir, 'incoming');
  for (let round = 0; round < 6; round += 1) {
    const child = spawn(process.execPath, [MAIN, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const lines = createInterface(child.stdout);
    let seen = 0;
    for await (const line of lines) if (line !== '' && (seen += 1) > round) break;
    // After every third line, as it comes; after the others while it takes a snapshot or packs.
    const inTheMiddle = round % 3 !== 2;
    if (inTheMiddle) await stopInTheMiddle(child, incoming);
    child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
    if (inTheMiddle) expect(readdirSync(incoming)).not.toEqual([]);
    const blobs = await openBlobStore(blobsDir, NO_ROWS);
    expect(readdirSync(incoming)).toEqual([]);
    for await (const key of blobs.listHere())
      expect(sha256(readFileSync(join(blobsDir, key.slice(0, 2), key)))).toBe(key);
  }
});
