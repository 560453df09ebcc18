// How the address of a PostgreSQL database is read, named, and given to the client.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import {
  clientConfig,
  nameOf,
  type PostgresAddress,
  readPostgresAddress,
  withoutPassword,
} from '../../../../../src/store/engine/postgres/connections/address.ts';

function read(text: string): PostgresAddress {
  const result = readPostgresAddress(text);
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result.address;
}

function problemsOf(text: string): string {
  const result = readPostgresAddress(text);
  return result.ok ? '' : result.problems.join('\n');
}

test('an address says host, port, database, user and password', () => {
  const address = read(
    'postgres://er%40rand:p%2Fa%3Ass@db.example.com:6432/a%20b?application_name=mine&connect_timeout=3',
  );
  expect(clientConfig(address)).toEqual({
    host: 'db.example.com',
    port: 6432,
    database: 'a b',
    user: 'er@rand',
    password: 'p/a:ss',
    ssl: { rejectUnauthorized: false, cert: undefined, key: undefined },
    application_name: 'mine',
    connectionTimeoutMillis: 3000,
    keepAlive: true,
  });
});

test('what is left out is as libpq has it: the socket of this machine, the user of the process, its database', () => {
  const { username } = userInfo();
  const socket = read('postgresql://');
  expect(socket).toMatchObject({ host: '/run/postgresql', port: 5432, user: username, database: username });
  expect(clientConfig(socket).ssl).toBe(false);
  expect(read('postgres://u@/d')).toMatchObject({ host: '/run/postgresql', user: 'u', database: 'd' });
  expect(read('postgres:///d')).toMatchObject({ user: username, database: 'd' });
  expect(read('postgres://u@h')).toMatchObject({ database: 'u' });
});

test.for([
  ['postgres://u@/d?host=/run/pg', '/run/pg', 'the PostgreSQL database d at /run/pg/.s.PGSQL.5432'],
  ['postgres://u@%2Frun%2Fpg/d', '/run/pg', 'the PostgreSQL database d at /run/pg/.s.PGSQL.5432'],
  ['postgres://u:x@[::1]:5433/d', '::1', 'the PostgreSQL database d at [::1]:5433'],
  ['postgres://u:x@db/d?port=1&user=v&password=y&dbname=e', 'db', 'the PostgreSQL database e at db:1'],
] as const)('%s names its host', ([text, host, name]) => {
  const address = read(text);
  expect(address.host).toBe(host);
  expect(nameOf(address)).toBe(name);
});

test('other machines are reached encrypted, this one plainly, unless the address says it', () => {
  const modeOf = (text: string) => read(text).sslMode;
  expect(modeOf('postgres://u@db.example.com/d')).toBe('require');
  expect(modeOf('postgres://u@10.0.0.1/d?sslmode=prefer')).toBe('require');
  for (const host of ['localhost', '127.0.0.5', '[::1]', '%2Frun'])
    expect(modeOf(`postgres://u@${host}/d`)).toBe('disable');
  expect(modeOf('postgres://u@localhost/d?sslmode=require')).toBe('require');
  expect(modeOf('postgres://u@db.example.com/d?sslmode=disable')).toBe('disable');
  // A socket has no TLS, whatever the address says.
  expect(clientConfig(read('postgres://u@/d?host=/run&sslmode=require')).ssl).toBe(false);
});

test('the modes of TLS check what libpq checks', () => {
  const directory = mkdtempSync(join(tmpdir(), 'errand-address-'));
  const file = (name: string) => {
    writeFileSync(join(directory, name), name);
    return join(directory, name);
  };
  const tls = (query: string) => clientConfig(read(`postgres://u@db.example.com/d?${query}`)).ssl;
  const root = `sslrootcert=${file('root')}`;
  expect(tls('sslmode=require')).toMatchObject({ rejectUnauthorized: false });
  const checked = { ca: 'root', checkServerIdentity: expect.any(Function) as unknown };
  expect(tls(`sslmode=require&${root}`)).toMatchObject(checked);
  expect(tls(`sslmode=verify-ca&${root}`)).toMatchObject(checked);
  const full = tls(`sslmode=verify-full&${root}&sslcert=${file('cert')}&sslkey=${file('key')}`);
  expect(full).toEqual({ ca: 'root', cert: 'cert', key: 'key' });
  for (const query of ['sslmode=verify-full', 'sslmode=verify-full&sslrootcert=system'])
    expect(tls(query)).toMatchObject({ ca: expect.arrayContaining([expect.stringContaining('BEGIN')]) as unknown });
  expect(() => tls('sslmode=verify-full&sslrootcert=/nowhere/root.pem')).toThrow('/nowhere/root.pem');
});

test.for([
  ['mysql://u@h/d', 'must be an address like postgres://'],
  ['/run/postgresql', 'must be an address like postgres://'],
  ['postgres://u:p@ss@h/d', 'write @ : / ? # % and spaces as %40'],
  ['postgres://u:p%zz@h/d', "has a password that can't be read"],
  ['postgres://u@h,i/d', 'names several servers'],
  ['postgres://u@h:70000/d', 'has a port that is not a whole number from 1 to 65535'],
  ['postgres://u@h/d?connect_timeout=0', 'has a connect_timeout that is not a whole number from 1 to 600'],
  ['postgres://u@h/d?sslmode=on', 'has an sslmode that is none of disable, require, verify-ca, verify-full'],
  ['postgres://u@h/d?sslmode=verify-ca', 'must have sslrootcert with sslmode=verify-ca'],
  ['postgres://u@h/d?sslrootcert=system', 'must have sslmode=verify-full with sslrootcert=system'],
  ['postgres://u@h/d?sslcert=/a', 'must have both sslcert and sslkey, or neither'],
  ['postgres://u@h/d?pool=3', 'has a parameter that is none of host, port'],
] as const)('%s is refused in clear words', ([text, words]) => {
  expect(problemsOf(text)).toContain(words);
});

test('all problems are told at once', () => {
  expect(problemsOf('postgres://u@h:0/d?sslmode=on&sslkey=/a&x=1').split('\n')).toHaveLength(4);
});

test('no problem and no print of an address contains the password', () => {
  const secret = 's3cr3t';
  for (const text of [`postgres://u:${secret}@@h/d`, `postgres://u:${secret}%zz@h/d`, `postgres://u@h/d?${secret}=1`])
    expect(problemsOf(text)).not.toContain(secret);
  const address = read(`postgres://u:${secret}@h/d`);
  expect(address.password()).toBe(secret);
  expect(read(address.text())).toMatchObject({ user: 'u', host: 'h', database: 'd' });
  expect(inspect(address) + JSON.stringify(address) + nameOf(address)).not.toContain(secret);
});

test.for([
  ['postgres://u:s3cr3t@h/d?sslmode=require', 'postgres://u:[removed]@h/d?sslmode=require'],
  ['postgresql://u:s3@cr3t/@h:1/d', 'postgresql://u:[removed]@h:1/d'],
  ['postgres://u@h/d?password=s3cr3t&port=1', 'postgres://u@h/d?password=[removed]&port=1'],
  ['postgres://u@h:5432/d', 'postgres://u@h:5432/d'],
  ['https://u:p@h/', 'https://u:p@h/'],
] as const)('%s is shown as %s', ([text, shown]) => {
  expect(withoutPassword(text)).toBe(shown);
});
