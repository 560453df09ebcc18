// What the Debian package does once its files are in place: the daemon is restarted if the new program takes the configuration.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

const SCRIPT = readFileSync(new URL('../../../scripts/package/debian/postinst', import.meta.url), 'utf8');
let root: string;
const at = (...parts: readonly string[]) => path.join(root, ...parts);

/** Programs of the system that would change this machine: each writes down how it was called. */
const STUBS: Readonly<Record<string, string>> = {
  'systemd-sysusers': '',
  'dpkg-statoverride': 'exit 1',
  chgrp: '',
  install: 'for last; do :; done; : >"$last"',
  runuser: 'shift 7; exec "$@"',
  'deb-systemd-invoke': 'case "$1" in restart) [ ! -e ROOT/will-not-start ] ;; esac',
  systemctl: 'case "$*" in *ActiveState*) cat ROOT/state ;; *MainPID*) echo 0 ;; esac',
  errand:
    'case "$*" in *check*) cat ROOT/problems; [ ! -s ROOT/problems ] ;; *status*) [ ! -e ROOT/will-not-start ] ;; esac',
};

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'errand-postinst-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['bin', 'systemd', 'data', 'etc', 'program', 'share']) mkdirSync(at(name));
  for (const [name, script] of Object.entries(STUBS)) {
    const lines = `#!/bin/sh\necho "${name} $*" >>ROOT/calls\n${script}\n`.replaceAll('ROOT', root);
    writeFileSync(at('bin', name), lines, { mode: 0o755 });
  }
  writeFileSync(at('program/node'), 'the new program');
  writeFileSync(at('state'), 'active\n');
  writeFileSync(at('problems'), '');
  mkdirSync(at('program.running-before'));
  writeFileSync(at('program.running-before/node'), 'the program before');
  symlinkSync(at('program.running-before'), at('program.running'));
});

function configure(before = '1.1.0'): { readonly status: number | null; readonly stderr: string } {
  const script = SCRIPT.replaceAll('/run/systemd/system', at('systemd'))
    .replaceAll('/usr/lib/errand', at('program'))
    .replaceAll('/usr/share/errand', at('share'))
    .replaceAll('/var/lib/errand', at('data'))
    .replaceAll('/etc/errand', at('etc'))
    .replaceAll(/\/run\/errand\.(replaced|package)/g, at('$1'))
    .replaceAll('@VERSION@', '1.2.0');
  const env = { ...process.env, PATH: `${at('bin')}:${process.env['PATH']}` };
  return spawnSync('sh', ['-c', script, 'postinst', 'configure', before], { encoding: 'utf8', env });
}

const restarts = () =>
  readFileSync(at('calls'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('deb-systemd-invoke'));
const running = () => readFileSync(at('program.running/node'), 'utf8');
const programs = () => readdirSync(root).filter((name) => name.startsWith('program.running-'));

test('a daemon that runs is restarted from links to the new files, and those of the version before go', () => {
  expect(configure()).toMatchObject({ status: 0, stderr: '' });
  expect(restarts()).toEqual(['deb-systemd-invoke restart errand.service']);
  expect(running()).toBe('the new program');
  expect(programs()).toEqual([path.basename(readlinkSync(at('program.running')))]);
  expect(statSync(at('program.running/node')).ino).toBe(statSync(at('program/node')).ino);
});

test('a configuration that the new program refuses leaves the daemon as it is, and says what to mend', () => {
  writeFileSync(at('problems'), 'errand.yaml:3:1 nonsense: is not a setting\n');
  const { status, stderr } = configure();
  expect(status).toBe(1);
  expect(stderr).toContain('errand.yaml:3:1 nonsense');
  expect(stderr).toContain('dpkg --configure errand');
  expect(restarts()).toEqual([]);
  expect([running(), programs()]).toEqual(['the program before', ['program.running-before']]);
});

test('a daemon that was stopped stays so, whatever its configuration', () => {
  writeFileSync(at('state'), 'inactive\n');
  writeFileSync(at('problems'), 'errand.yaml:3:1 nonsense: is not a setting\n');
  expect(configure()).toMatchObject({ status: 0, stderr: '' });
  expect(restarts()).toEqual([]);
  expect(running()).toBe('the new program');
});

test('one that failed is started', () => {
  writeFileSync(at('state'), 'failed\n');
  expect(configure()).toMatchObject({ status: 0 });
  expect(restarts()).toEqual(['deb-systemd-invoke restart errand.service']);
});

function layDatabase(schema: number): void {
  const database = new Database(at('data/errand.db'));
  database.exec('CREATE TABLE IF NOT EXISTS anything (x)');
  database.pragma(`user_version = ${schema}`);
  database.close();
}

test('a new daemon that does not become ready gives way to the one before', () => {
  layDatabase(30);
  writeFileSync(at('will-not-start'), '');
  const { status, stderr } = configure();
  expect(status).toBe(1);
  expect(stderr).toContain('does not become ready');
  expect(stderr).toContain('the version before runs again');
  expect(running()).toBe('the program before');
  expect(restarts()).toHaveLength(2);
});

test('unless it has changed the database', () => {
  layDatabase(30);
  const migrates = `#!/bin/sh\necho "deb-systemd-invoke $*" >>${at('calls')}\ncp ${at('migrated')} ${at('data/errand.db')}; exit 1\n`;
  writeFileSync(at('bin/deb-systemd-invoke'), migrates, { mode: 0o755 });
  const before = readFileSync(at('data/errand.db'));
  layDatabase(31);
  writeFileSync(at('migrated'), readFileSync(at('data/errand.db')));
  writeFileSync(at('data/errand.db'), before);
  const { status, stderr } = configure();
  expect(status).toBe(1);
  expect(stderr).toContain('Going back');
  expect(running()).toBe('the new program');
  expect(restarts()).toHaveLength(1);
});

test('after a power failure at any step it is run again, and leaves nothing behind', () => {
  mkdirSync(at('program.running-half'));
  symlinkSync(at('program.running-half'), at('program.running.new'));
  for (const name of ['replaced', 'package']) writeFileSync(at(name), '');
  expect(configure()).toMatchObject({ status: 0 });
  expect(configure()).toMatchObject({ status: 0 });
  expect(programs()).toHaveLength(1);
  expect(running()).toBe('the new program');
  expect(['replaced', 'package', 'program.running.new'].filter((name) => existsSync(at(name)))).toEqual([]);
});

test('the first installation is enabled and started, with examples where there is no file', () => {
  rmSync(at('program.running'));
  writeFileSync(at('program.new'), '');
  writeFileSync(at('state'), 'inactive\n');
  writeFileSync(at('etc/models.yaml'), 'mine\n');
  expect(configure('')).toMatchObject({ status: 0 });
  expect(readFileSync(at('calls'), 'utf8')).toContain('systemctl --quiet enable errand.service');
  expect(restarts()).toEqual(['deb-systemd-invoke restart errand.service']);
  expect(readFileSync(at('etc/models.yaml'), 'utf8')).toBe('mine\n');
  expect(readdirSync(at('etc')).sort()).toEqual(['connectors.yaml', 'mcp-servers.yaml', 'models.yaml']);
  expect(existsSync(at('program.new'))).toBe(false);
});
