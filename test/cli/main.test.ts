// The real program as a process: what shells and pipes see of it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commandNameOf } from '../../src/cli/frame/command-name.ts';
import { VERSION } from '../../src/version.ts';
import { makeDirectory, startFakeDaemon } from './outside.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const inShell = (script: string) => spawnSync('bash', ['-c', script], { encoding: 'utf8', timeout: 120_000 });
const errand = `'${process.execPath}' --disable-warning=ExperimentalWarning '${MAIN}'`;

test('--version prints the version of the package', () => {
  expect(inShell(`${errand} --version`)).toMatchObject({ status: 0, stdout: `${VERSION}\n`, stderr: '' });
});

test('errand version prints it too', () => {
  expect(inShell(`${errand} version`)).toMatchObject({ status: 0, stdout: `${VERSION}\n`, stderr: '' });
});

test('a data directory that cannot be created ends the start with a message', () => {
  const { status, signal, stderr } = inShell(`${errand} init --data-dir /proc/errand`);
  expect({ status, signal }).toEqual({ status: 1, signal: null });
  expect(stderr).toMatch(/^errand: The directory \/proc\/errand cannot be made: ENOENT/);
});

test('a pipe without a reader does not crash the command', () => {
  const { stderr, stdout } = inShell(`{ ${errand} completion bash; echo "code $?" >&2; } | head -c 0`);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'code 0\n' });
});

test('a full disk under stdout ends with 1', () => {
  const { status, stderr } = inShell(`${errand} completion bash > /dev/full`);
  expect(status).toBe(1);
  expect(stderr).toContain('could not be written');
});

test('Ctrl-C while waiting for the daemon ends the process with 130', async () => {
  const arrived = Promise.withResolvers<void>();
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/status': () => arrived.resolve() });
  const child = spawn(process.execPath, [MAIN, 'status', '--data-dir', dataDir], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  await arrived.promise;
  child.kill('SIGINT');
  expect(await ended).toBe(130);
});

test('SIGUSR1 opens no debugger', async () => {
  const arrived = Promise.withResolvers<void>();
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/status': () => arrived.resolve() });
  const child = spawn(process.execPath, [MAIN, 'status', '--data-dir', dataDir], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = text(child.stderr);
  await arrived.promise;
  child.kill('SIGUSR1');
  // The second is handled after whatever the first has begun.
  child.kill('SIGINT');
  expect(await said).not.toMatch(/debugger|inspector/i);
});

test('the command is called as the user can call it', () => {
  const directory = makeDirectory();
  const bin = path.join(directory, 'bin');
  const links = path.join(directory, 'links');
  mkdirSync(bin);
  mkdirSync(links);
  const script = path.join(bin, 'errand.cjs');
  expect(commandNameOf(script, directory, links)).toBe('errand');
  writeFileSync(path.join(bin, 'errand'), '');
  expect(commandNameOf(script, directory, links)).toBe('bin/errand');
  expect(commandNameOf(script, links, links)).toBe(path.join(bin, 'errand'));
  symlinkSync(path.join(bin, 'errand'), path.join(links, 'errand'));
  expect(commandNameOf(script, directory, `/nowhere:${links}`)).toBe('errand');
  expect(commandNameOf(undefined, directory, links)).toBe('errand');

  const single = path.join(bin, 'errand-1.0.0-linux-x64');
  writeFileSync(single, '');
  expect(commandNameOf(single, directory, '/nowhere')).toBe('bin/errand-1.0.0-linux-x64');
  expect(commandNameOf(single, bin, '/nowhere')).toBe('./errand-1.0.0-linux-x64');
  symlinkSync(single, path.join(directory, 'errand'));
  expect(commandNameOf(single, links, directory)).toBe('errand');
});
