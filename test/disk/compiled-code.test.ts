import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const SOURCE = fileURLToPath(new URL('../../src/disk/compiled-code.ts', import.meta.url));

/** Another process keeps its code there, loads a module, and ends. */
function load(directory: string): void {
  const module = join(temporaryDirectory({ 'loaded.mjs': 'export const loaded = () => 1;' }), 'loaded.mjs');
  const script = `
    const { keepCompiledCode } = await import(${JSON.stringify(SOURCE)});
    keepCompiledCode(${JSON.stringify(directory)});
    await import(${JSON.stringify(module)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { env: {} });
}

function directoryOf(mode: number, files: Readonly<Record<string, string>> = {}): string {
  const directory = temporaryDirectory(files);
  chmodSync(directory, mode);
  return directory;
}

const kept = (directory: string) => readdirSync(join(directory, 'compiled'), { recursive: true }).length;

test('what is loaded is kept in a directory of this user alone', () => {
  const directory = directoryOf(0o700);
  load(directory);
  expect(kept(directory)).toBeGreaterThan(0);
});

test.each([0o750, 0o701, 0o722])('a directory of mode %o is not trusted with code', (mode) => {
  const directory = directoryOf(mode);
  load(directory);
  expect(existsSync(join(directory, 'compiled'))).toBe(false);
});

test('a directory that does not exist is not made', () => {
  const directory = join(directoryOf(0o700), 'later');
  load(directory);
  expect(existsSync(directory)).toBe(false);
});

test('files of too many versions are removed together', () => {
  const old = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`compiled/v/${at}`, '']));
  const directory = directoryOf(0o700, old);
  load(directory);
  expect(kept(directory)).toBeLessThan(10);
});
