// What is packaged has everything where the program looks for it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Architecture, TARGETS } from '../../../scripts/package/targets.ts';
import { layTree } from '../../../scripts/package/tree.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
let directory: string;
let daemon: ChildProcess | undefined;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'errand-tree-'));
  await layTree(path.join(directory, 'tree'), TARGETS[process.arch as Architecture], { isDraft: true });
});
afterAll(() => {
  daemon?.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const main = () => path.join(directory, 'tree/dist/main.js');

test('each thread is a file of its own, at its place', () => {
  const threads = globSync(['src/**/*-worker.ts', 'src/agent/worker.ts'], { cwd: ROOT });
  expect(threads.length).toBeGreaterThan(4);
  const missing = threads.filter((thread) => {
    return !existsSync(path.join(directory, 'tree', thread.replace(/^src/, 'dist').replace(/ts$/, 'js')));
  });
  expect(missing).toEqual([]);
});

test('the daemon starts with its database, its threads and its default files, and stops', {
  timeout: 60_000,
}, async () => {
  const flags = ['--data-dir', path.join(directory, 'data')];
  const env = { PATH: process.env['PATH'], HOME: directory };
  daemon = spawn(process.execPath, [main(), 'serve', ...flags, '--listen', '127.0.0.1:0'], { env, stdio: 'ignore' });
  const ended = once(daemon, 'exit');
  const status = execFileSync(
    process.execPath,
    [main(), ...flags, 'status', '--wait', '--timeout', '50s', '-o', 'json'],
    {
      encoding: 'utf8',
      env,
    },
  );
  expect(JSON.parse(status)).toMatchObject({ ready: true });
  daemon.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('a CommonJS library that is imported late has its names', async () => {
  const chunk = globSync('dist/chunks/undici-*.js', { cwd: path.join(directory, 'tree') })[0]!;
  const undici = (await import(path.join(directory, 'tree', chunk))) as Record<string, unknown>;
  expect(undici['Agent']).toBeTypeOf('function');
});

test('nothing says where the checkout is, so that each gives the same packages', () => {
  const tree = path.join(directory, 'tree');
  const saying = globSync('dist/**/*.{js,cjs}', { cwd: tree }).filter((name) => {
    return readFileSync(path.join(tree, name), 'utf8').includes(ROOT.replace(/\/$/, ''));
  });
  expect(saying).toEqual([]);
});
