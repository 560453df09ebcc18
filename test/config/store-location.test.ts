// Where the store is, from the settings and the file that they name.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { formatProblem } from '../../src/catalog/reading/problem.ts';
import { loadLiveConfig } from '../../src/config/read-configuration.ts';
import { storeLocationOf } from '../../src/config/store-location.ts';
import { nameOfStore } from '../../src/store/location.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

function load(files: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) {
  const configDir = temporaryDirectory(files);
  const unresolved = new Set<string>();
  const loaded = loadLiveConfig({ configDir, dataDir: path.join(configDir, 'data') }, environment, unresolved);
  return { configDir, loaded, unresolved };
}

function locate(files: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) {
  const { loaded } = load(files, environment);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return storeLocationOf(loaded.config);
}

function problemsOf(files: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) {
  const { loaded } = load(files, environment);
  return loaded.ok ? '' : loaded.problems.map(formatProblem).join('\n');
}

const ADDRESS = 'postgres://errand:open-sesame@db.example.com/errand';

test('without a setting, the store is a SQLite file in the data directory', () => {
  const { configDir, loaded } = load({});
  if (!loaded.ok) throw new Error('It must load.');
  const file = path.join(configDir, 'data', 'errand.db');
  expect(storeLocationOf(loaded.config)).toEqual({ kind: 'sqlite', file });
  expect(nameOfStore({ kind: 'sqlite', file })).toBe(file);
});

test('an address in errand.yaml, in the environment and in a file lead to the same database', () => {
  const settings = 'database_connections: 20\n';
  const found = [
    locate({ 'errand.yaml': `${settings}database: ${ADDRESS}\n` }),
    locate({ 'errand.yaml': settings }, { ERRAND_DATABASE: ADDRESS }),
    locate({ 'errand.yaml': `${settings}database_file: db.url\n`, 'db.url': `${ADDRESS}\n` }),
    locate(
      { 'errand.yaml': settings, db: `${ADDRESS}\n` },
      { ERRAND_DATABASE_FILE: 'credential:db', CREDENTIALS_DIRECTORY: temporaryDirectory({ db: ADDRESS }) },
    ),
  ];
  for (const location of found) {
    expect(location).toMatchObject({ kind: 'postgres', address: { host: 'db.example.com' }, connections: 20 });
    expect(nameOfStore(location)).toBe('the PostgreSQL database errand at db.example.com:5432');
    if (location.kind === 'postgres') expect(location.address.password()).toBe('open-sesame');
  }
});

test('what is wrong with an address is said where it stands, without its password', () => {
  const wrong = `${ADDRESS}:x?sslmode=on`;
  const found = [
    problemsOf({ 'errand.yaml': 'database: "postgres://u:open-sesame@h:0/d?sslmode=on"\n' }),
    problemsOf({}, { ERRAND_DATABASE: 'postgres://u:open-sesame@h:0/d?sslmode=on' }),
    problemsOf({ 'errand.yaml': 'database_file: db.url\n', 'db.url': 'postgres://u:open-sesame@h:0/d?sslmode=on' }),
    problemsOf({ 'errand.yaml': 'database_file: db.url\n', 'db.url': `${wrong}\n${wrong}` }),
    problemsOf({ 'errand.yaml': 'database_file: db.url\n' }),
    problemsOf({ 'errand.yaml': `database: ${ADDRESS}\ndatabase_file: db.url\n`, 'db.url': ADDRESS }),
  ];
  const words = 'has an sslmode that is none of disable, require, verify-ca, verify-full';
  expect(found[0]).toContain('errand.yaml:1:11 database: has a port that is not a whole number from 1 to 65535');
  expect(found[0]).toContain(words);
  expect(found[1]).toContain('ERRAND_DATABASE: has a port');
  expect(found[2]).toMatch(/database_file db.url has a port .*\n.*database_file db.url has an sslmode/);
  expect(found[3]).toContain('must contain one line: the address of the database');
  expect(found[4]).toContain('refers to a file that does not exist');
  expect(found[5]).toContain('database_file: must be empty where database is set');
  expect(found.join('\n')).not.toContain('open-sesame');
});

test('outside the service, a credential with the address is noted, and refused where it is needed', () => {
  const { loaded, unresolved } = load({ 'errand.yaml': 'database_file: "credential:db"\n' });
  expect([...unresolved]).toEqual(['credential:db']);
  if (!loaded.ok) throw new Error('It must load.');
  expect(() => storeLocationOf(loaded.config)).toThrow('database_file refers to a service credential');
});

test('a file that becomes unreadable is refused when the store is opened', () => {
  const { configDir, loaded } = load({ 'errand.yaml': 'database_file: db.url\n', 'db.url': ADDRESS });
  if (!loaded.ok) throw new Error('It must load.');
  writeFileSync(path.join(configDir, 'db.url'), 'mysql://u:open-sesame@h/d');
  expect(() => storeLocationOf(loaded.config)).toThrow(/^database_file db.url must be an address like/);
});
