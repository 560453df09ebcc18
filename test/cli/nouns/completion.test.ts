// The completion scripts must parse, and must complete what the commands have.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory, run } from '../outside.ts';

async function scriptFor(shell: string): Promise<string> {
  const file = path.join(makeDirectory(), `errand.${shell}`);
  writeFileSync(file, (await run(['completion', shell])).stdout);
  return file;
}

/** What bash offers after these words, the last of which is being typed. */
function offered(file: string, words: readonly string[]): string[] {
  const typed = words.map((word) => `'${word}'`).join(' ');
  const script = `. '${file}'; COMP_WORDS=(errand ${typed}); COMP_CWORD=${words.length}; _errand; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-uc', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

const has = (command: string) => spawnSync(command, ['-c', 'true']).status === 0;

test.each(['bash', 'zsh', 'fish'])('the script for %s parses', async (shell) => {
  const file = await scriptFor(shell);
  if (!has(shell)) return;
  expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});

test('bash completes nouns, verbs, flags and the values of flags', async () => {
  const file = await scriptFor('bash');
  expect(offered(file, ['us'])).toEqual(['users']);
  expect(offered(file, ['users', 'dis'])).toEqual(['disable']);
  expect(offered(file, ['keys', 'create', '--sc'])).toEqual(['--scope']);
  expect(offered(file, ['keys', 'create', '--scope', ''])).toEqual(['conversation', 'global', 'admin']);
  expect(offered(file, ['keys', '-o', ''])).toEqual(['table', 'json']);
  expect(offered(file, ['--data-dir', 'users', 'ke'])).toEqual(['keys']);
  expect(offered(file, ['completion', 'z'])).toEqual(['zsh']);
  expect(offered(file, ['--data-dir', ''])).toEqual([]);
});

test('every noun and verb of the help is in every script', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await run(['completion', shell]);
    for (const verb of ['passwd', 'revoke', 'origin', 'serve']) expect(stdout).toContain(verb);
  }
});

test('an unknown shell ends with 2', async () => {
  expect(await run(['completion', 'csh'])).toMatchObject({ code: 2, stdout: '' });
});
