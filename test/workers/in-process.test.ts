// A process of one task: what it gets, what bounds it, and that it ends when nobody waits for it any more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { inProcess, type ProcessParts } from '../../src/workers/in-process.ts';
import type { Executor } from '../../src/workers/one-shot.ts';
import type { TaskEnd } from '../../src/workers/task-end.ts';
import { workerFile } from '../../src/workers/worker-file.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { isAlive } from '../support/is-alive.ts';
import { waitFor } from '../support/time/wait-for.ts';
import type { Deed } from './deeds.ts';
import type { Answered } from './in-process-main.ts';

const MEBIBYTE = 1_048_576;

interface Run extends Partial<ProcessParts> {
  readonly bytes?: Uint8Array;
}

async function run(task: Deed, { bytes = new Uint8Array(), ...parts }: Run = {}): Promise<TaskEnd<Answered>> {
  const file = workerFile('./in-process-main.ts', import.meta.url);
  const start = inProcess<Deed>({ file, heapMb: 64, memoryMb: 512, maxCpuMs: 60_000, ...parts });
  let executor: Executor | undefined;
  onTestFinished(async () => void (await executor?.terminate()));
  const end = await new Promise<TaskEnd<unknown>>((resolve) => {
    executor = start({ task, bytes }, resolve);
  });
  await executor!.terminate();
  return end as TaskEnd<Answered>;
}

test('it gets its task and all of the bytes, and nothing of the environment', async () => {
  process.env['SECRET_OF_THE_DAEMON'] = 'a';
  onTestFinished(() => void delete process.env['SECRET_OF_THE_DAEMON']);
  const bytes = new Uint8Array(5 * MEBIBYTE);
  const end = await run('answer', { bytes });
  expect(end).toMatchObject({ kind: 'done', value: { said: 'answer', bytes: bytes.length, environment: [] } });
  if (end.kind !== 'done') throw new Error(end.kind);
  expect(end.value.pid).not.toBe(process.pid);
});

test('what exceeds the rest of its heap at once ends it, and nothing else', async () => {
  const error = expect.objectContaining({ message: expect.stringMatching(/^[^\n]*out of memory$/) }) as Error;
  expect(await run('gorge')).toEqual({ kind: 'out_of_memory', error });
});

test('memory outside of its heap is limited, too', async () => {
  const error = new Error('it used more than 128 MB');
  expect(await run('eatBytes', { memoryMb: 128 })).toEqual({ kind: 'out_of_memory', error });
});

test('it is out of time when it has used its processor time', async () => {
  expect(await run('spin', { maxCpuMs: 1_000 })).toEqual({ kind: 'out_of_time' });
});

test('one that was killed by another has crashed, and is no matter of its memory', async () => {
  const error = new Error('it ended with SIGKILL, without an answer');
  expect(await run('kill')).toEqual({ kind: 'crashed', error });
});

test('one whose program fails is not started, also when it takes none of its bytes', async () => {
  const { execPath } = process;
  onTestFinished(() => void (process.execPath = execPath));
  process.execPath = '/bin/false';
  const end = await run('answer', { bytes: new Uint8Array(5 * MEBIBYTE) });
  expect(end).toEqual({ kind: 'not_started', error: new Error('it ended with 1, without an answer') });
});

test('the files of a worker may lie in a folder of any name', async () => {
  const directory = join(temporaryDirectory(), 'a#b?c%41');
  const here = fileURLToPath(new URL('../..', import.meta.url));
  mkdirSync(join(directory, 'test'), { recursive: true });
  for (const name of ['src', 'node_modules', 'package.json']) symlinkSync(join(here, name), join(directory, name));
  cpSync(import.meta.dirname, join(directory, 'test/workers'), { recursive: true });
  const file = pathToFileURL(join(directory, 'test/workers/in-process-main.ts'));
  expect(await run('answer', { file })).toMatchObject({ kind: 'done' });
});

test.each(['hang', 'spin'] as const)('it ends after the daemon was killed: %s', async (deed) => {
  const file = fileURLToPath(new URL('in-process-parent-main.ts', import.meta.url));
  const parent = spawn(process.execPath, [file, deed], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await waitFor(() => !isAlive(pid));
});
