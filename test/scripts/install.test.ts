// `npm install` in a checkout changes nothing that is under version control.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const NPMRC = new URL('../../.npmrc', import.meta.url);

test('a lock that this version of npm would write differently stays as it is', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'errand-install-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const at = (name: string) => path.join(directory, name);
  mkdirSync(at('package'));
  const dependency = { name: 'dependency', version: '1.0.0', scripts: { install: 'true' } };
  writeFileSync(at('package/package.json'), JSON.stringify(dependency));
  execFileSync('tar', ['-czf', at('dependency.tgz'), '-C', directory, 'package']);
  const project = { name: 'project', version: '1.0.0', dependencies: { dependency: 'file:dependency.tgz' } };
  writeFileSync(at('package.json'), JSON.stringify(project));
  const entry = { version: '1.0.0', resolved: 'file:dependency.tgz' };
  const packages = { '': project, 'node_modules/dependency': entry };
  // It lacks `hasInstallScript`, which npm adds when it writes.
  const lock = `${JSON.stringify({ ...project, lockfileVersion: 3, requires: true, packages }, null, 2)}\n`;
  writeFileSync(at('package-lock.json'), lock);
  copyFileSync(NPMRC, at('.npmrc'));

  const args = ['install', '--offline', '--no-audit', '--no-fund', '--cache', at('cache')];
  execFileSync('npm', args, { cwd: directory, stdio: 'pipe', timeout: 50_000 });
  expect(readFileSync(at('node_modules/dependency/package.json'), 'utf8')).toContain('1.0.0');
  expect(readFileSync(at('package-lock.json'), 'utf8')).toBe(lock);
});
