// A process of one task: what it gets, what bounds it, and that it ends when nobody waits for it any more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { inProcess, type ProcessParts } from '../../src/workers/in-process.ts';
import type { Executor } from '../../src/workers/one-shot.ts';
import type { TaskEnd } from '../../src/workers/task-end.ts';
import { workerFile } from '../../src/workers/worker-file.ts';
import { waitFor } from '../support/time/wait-for.ts';
import type { Deed } from './deeds.ts';
import type { Answered } from './in-process-main.ts';

const MEBIBYTE = 1_048_576;

async function run(
  task: Deed,
  { bytes = new Uint8Array(), ...parts }: Partial<ProcessParts & { bytes: Uint8Array }> = {},
) {
  const file = workerFile('./in-process-main.ts', import.meta.url);
  const start = inProcess<Deed>({ file, heapMb: 64, memoryMb: 512, maxCpuSeconds: 30, ...parts });
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
  expect(end).toMatchObject({ kind: 'done', value: { said: 'answer', bytes: bytes.length } });
  if (end.kind !== 'done') throw new Error(end.kind);
  expect(end.value.pid).not.toBe(process.pid);
  expect(end.value.environment).not.toContain('SECRET_OF_THE_DAEMON');
});

test('objects that exceed what is left of its heap end it, and nothing else', async () => {
  expect(await run('gorge')).toEqual({ kind: 'out_of_memory' });
});

test.skipIf(!existsSync('/proc/self/status'))('memory outside of its heap is limited, too', async () => {
  expect(await run('eatBytes', { memoryMb: 128 })).toEqual({ kind: 'out_of_memory' });
});

test('it is timed out by the system when it has used its processor time', async () => {
  expect(await run('spin', { maxCpuSeconds: 1 })).toEqual({ kind: 'timeout' });
});

test('one that takes none of its bytes ends as any other', async () => {
  const file = workerFile('./nothing.ts', import.meta.url);
  expect(await run('answer', { file, bytes: new Uint8Array(5 * MEBIBYTE) })).toMatchObject({ kind: 'crashed' });
});

test('a program that is not there is not started', async () => {
  const { execPath } = process;
  onTestFinished(() => void (process.execPath = execPath));
  process.execPath = '/nowhere/node';
  expect(await run('answer')).toMatchObject({
    kind: 'crashed',
    error: { message: expect.stringContaining('nowhere') },
  });
});

test.each(['hang', 'spin'] as const)('it ends after the daemon was killed: %s', async (deed) => {
  const file = fileURLToPath(new URL('in-process-parent-main.ts', import.meta.url));
  const parent = spawn(process.execPath, [file, deed], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await waitFor(() => !isAlive(pid));
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
