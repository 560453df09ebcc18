// What the Debian package refuses before it replaces a file.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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

/** With the package's data and /run in one directory; systemd runs if `systemd` is there. */
function runPreinst(...args: string[]): { readonly status: number | null; readonly stderr: string } {
  const script = SCRIPT.replaceAll('/run/systemd/system', `${data}/systemd`)
    .replaceAll('/usr/lib/errand', `${data}/program`)
    .replaceAll('/var/lib/errand', data)
    .replaceAll('@SCHEMA@', '300')
    .replaceAll('@OLDEST@', '255')
    .replaceAll('@VERSION@', '1.2.0');
  return spawnSync('sh', ['-c', script, 'preinst', ...args], { encoding: 'utf8' });
}

function layDatabase(schema: number): void {
  const database = new Database(path.join(data, 'errand.db'));
  database.exec('CREATE TABLE anything (x)');
  database.pragma(`user_version = ${schema}`);
  database.close();
}

/** Found before that of the machine. */
function layProgram(name: string, script: string): void {
  writeFileSync(path.join(data, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const before = process.env['PATH'];
  process.env['PATH'] = `${data}:${before}`;
  onTestFinished(() => void (process.env['PATH'] = before));
}

test.each(['upgrade', 'install'])('a database of a newer version is refused with what to do (%s)', (action) => {
  layDatabase(301);
  const { status, stderr } = runPreinst(action, '1.3.0');
  expect(status).toBe(1);
  expect(stderr).toContain('has schema version 301; 1.2.0 reads up to 300.');
  expect(stderr).toContain('errand.db.v300.backup');
});

test.each(['upgrade', 'install'])('a database that is too old is refused with what to do (%s)', (action) => {
  layDatabase(254);
  const { status, stderr } = runPreinst(action, '0.1.0');
  expect(status).toBe(1);
  expect(stderr).toContain('has schema version 254; 1.2.0 reads from 255 on.');
  expect(stderr).toContain('Install the last version 0.1 and start it once');
});

test.each([0, 255, 256, 300])('a database of schema version %i is accepted', (schema) => {
  layDatabase(schema);
  expect(runPreinst('upgrade', '1.1.0')).toMatchObject({ status: 0, stderr: '' });
});

test('so is a machine without one, and its first start is pending', () => {
  expect(runPreinst('install')).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(path.join(data, 'program.new'))).toBe(true);
});

test('an upgrade that has no room for the copy of the database is refused', () => {
  layDatabase(299);
  layProgram('df', 'echo h; echo "/dev/x 100000 70000 30000 70% /"');
  const { status, stderr } = runPreinst('upgrade', '1.1.0');
  expect(status).toBe(1);
  expect(stderr).toContain('needs 50 MB');
  expect(stderr).toContain('29 MB are free');
});

/** systemd runs, and this is the main process of the service. */
function layService(pid: number | string): void {
  mkdirSync(path.join(data, 'systemd'));
  layProgram('systemctl', `echo "$*" >>${data}/calls; echo ${pid}`);
}

test('an upgrade stops and starts nothing', () => {
  layService(process.pid);
  expect(runPreinst('upgrade', '1.1.0')).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync(path.join(data, 'calls'), 'utf8')).toBe('show --property MainPID --value errand.service\n');
  expect(existsSync(path.join(data, 'program.new'))).toBe(false);
});

test('nor does an upgrade of a daemon that is stopped', () => {
  layService(0);
  expect(runPreinst('upgrade', '1.1.0')).toMatchObject({ status: 0, stderr: '' });
});

test('a daemon of an earlier package that shares the mounts of everybody keeps what it has', async () => {
  mkdirSync(path.join(data, 'program'));
  const program = path.join(data, 'program/node');
  copyFileSync('/bin/sleep', program);
  chmodSync(program, 0o755);
  const daemon = spawn(program, ['60'], { stdio: 'ignore' });
  onTestFinished(() => void daemon.kill('SIGKILL'));
  await once(daemon, 'spawn');
  layService(daemon.pid!);
  layProgram('nsenter', `touch ${data}/entered`);
  expect(runPreinst('upgrade', '1.1.0')).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(path.join(data, 'entered'))).toBe(false);
});
