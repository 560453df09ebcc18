import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failureOf } from '../../../src/agent/loop/call/model-failure.ts';
import { wordsOfFailure } from '../../../src/agent/loop/tool-failure.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const caught = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('a failed system call is reported without its paths', async () => {
  const workspace = temporaryDirectory();
  const outside = temporaryDirectory();
  const missing = await caught(readFile(join(outside, 'secret-place')));
  expect(wordsOfFailure(missing, workspace)).toBe('ENOENT: no such file or directory');
  const [program] = (await once(spawn(join(outside, 'no-program')), 'error')) as [Error];
  expect(wordsOfFailure(program, workspace)).toBe('ENOENT');
});

test('other failures show the workspace under the path that the agent knows', () => {
  expect(wordsOfFailure(new Error('disk full'), '/srv/errand/workspaces/x')).toBe('disk full');
  expect(wordsOfFailure(new Error('/srv/errand/workspaces/x/a is odd'), '/srv/errand/workspaces/x')).toBe(
    '/workspace/a is odd',
  );
});

test.each(['EMFILE', 'ENFILE'])('a model that no descriptor is left for (%s) is asked again', (code) => {
  const cause = Object.assign(new Error(`connect ${code} 127.0.0.1:9`), { code, syscall: 'connect' });
  const called = { model: { name: 'm' }, limits: {} } as Parameters<typeof failureOf>[1];
  expect(failureOf(new TypeError('fetch failed', { cause }), called, 0)).toMatchObject({
    again: true,
    error: { type: 'api_error', retryable: true, message: expect.stringContaining('too many files and connections') },
  });
});
