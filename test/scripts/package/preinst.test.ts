// What the Debian package refuses before it replaces a file.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

const SCRIPT = readFileSync(new URL('../../../scripts/package/debian/preinst', import.meta.url), 'utf8');
let data: string;

beforeEach(() => {
  data = mkdtempSync(path.join(tmpdir(), 'errand-preinst-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
});

/** On a machine without a running systemd, with the package's data and /run in one directory. */
function runPreinst(...args: string[]): { readonly status: number | null; readonly stderr: string } {
  const script = SCRIPT.replaceAll('/run/systemd/system', `${data}/no-systemd`)
    .replaceAll('/run/errand.package', `${data}/pending`)
    .replaceAll('/var/lib/errand', data)
    .replaceAll('@SCHEMA@', '300')
    .replaceAll('@VERSION@', '1.2.0');
  return spawnSync('sh', ['-c', script, 'preinst', ...args], { encoding: 'utf8' });
}

function layDatabase(schema: number): void {
  const database = new Database(path.join(data, 'errand.db'));
  database.exec('CREATE TABLE anything (x)');
  database.pragma(`user_version = ${schema}`);
  database.close();
}

test.each(['upgrade', 'install'])('a database of a newer version is refused with what to do (%s)', (action) => {
  layDatabase(301);
  const { status, stderr } = runPreinst(action, '1.3.0');
  expect(status).toBe(1);
  expect(stderr).toContain('has schema version 301; 1.2.0 reads up to 300.');
  expect(stderr).toContain('errand.db.v300.backup');
});

test.each([0, 1, 255, 256, 300])('a database of schema version %i is accepted', (schema) => {
  layDatabase(schema);
  expect(runPreinst('upgrade', '1.1.0')).toMatchObject({ status: 0, stderr: '' });
});

test('so is a machine without one, and its first start is pending', () => {
  expect(runPreinst('install')).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync(path.join(data, 'pending'), 'utf8')).toBe('new\n');
});

test('an upgrade that has no room for the copy of the database is refused', () => {
  layDatabase(299);
  writeFileSync(path.join(data, 'df'), '#!/bin/sh\necho h; echo "/dev/x 100000 70000 30000 70% /"\n', { mode: 0o755 });
  const before = process.env['PATH'];
  process.env['PATH'] = `${data}:${before}`;
  onTestFinished(() => void (process.env['PATH'] = before));
  const { status, stderr } = runPreinst('upgrade', '1.1.0');
  expect(status).toBe(1);
  expect(stderr).toContain('needs 50 MB');
  expect(stderr).toContain('29 MB are free');
});
