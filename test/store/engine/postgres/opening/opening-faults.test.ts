// What an administrator reads when a database can't be opened: asked of real servers.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ErrandError } from '../../../../../src/domain/errors.ts';
import { clientConfig, readPostgresAddress } from '../../../../../src/store/engine/postgres/connections/address.ts';
import { explainOpening, mayPass } from '../../../../../src/store/engine/postgres/opening/opening-faults.ts';
import { requireServer, SERVER_FACTS } from '../../../../../src/store/engine/postgres/opening/server.ts';
import type { Value } from '../../../../../src/store/engine/statement.ts';
import { freePort } from '../../../../support/http/free-port.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { makeCertificate } from '../../../../support/http/certificates.ts';
import { type Cluster, startCluster } from '../../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../../support/postgres/programs.ts';

const PASSWORD = 'open-sesame';

function addressOf(url: string) {
  const read = readPostgresAddress(url);
  if (!read.ok) throw new Error(read.problems.join('; '));
  return read.address;
}

/** What opening a database fails with, explained; it is opened as the engine does. */
async function opening(url: string): Promise<string> {
  const address = addressOf(url);
  let client: Client | undefined;
  try {
    client = new Client(clientConfig(address));
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<Value[]>({ text: SERVER_FACTS, rowMode: 'array' });
    requireServer(rows[0]!, address);
    await client.query('CREATE TABLE IF NOT EXISTS made (id int)');
    return 'opened';
  } catch (error) {
    const explained = explainOpening(error, address);
    expect(explained).toBeInstanceOf(ErrandError);
    const { message } = explained as ErrandError;
    expect(message).not.toContain(PASSWORD);
    expect(explainOpening(explained, address)).toBe(explained);
    return message;
  } finally {
    await client?.end().catch(() => undefined);
  }
}

describe('without a server', () => {
  test('a port where nobody listens', async () => {
    const port = await freePort();
    expect(await opening(`postgres://u@127.0.0.1:${port}/d`)).toBe(
      `The PostgreSQL database d at 127.0.0.1:${port} is not reachable: no server listens there. Does it run? pg_isready -h 127.0.0.1 -p ${port}`,
    );
    expect(await opening(`postgres://u@localhost:${port}/d`)).toContain('no server listens there');
  });

  test('a socket that is not there', async () => {
    expect(await opening('postgres://u@/d?host=/nowhere')).toBe(
      'The PostgreSQL database d at /nowhere/.s.PGSQL.5432 is not reachable: no server has this socket. Does it run? pg_isready -h /nowhere -p 5432',
    );
  });

  test('a name that nobody knows', async () => {
    expect(await opening('postgres://u@db.invalid/d')).toContain("the name db.invalid can't be resolved");
  });

  test('a port that takes connections and says nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const words = await opening(`postgres://u@127.0.0.1:${port}/d?connect_timeout=1`);
    expect(words).toContain('is not reachable: nothing answers there. Is a firewall in between?');
  });

  test('a file of TLS that is not there', async () => {
    const words = await opening('postgres://u@db.invalid/d?sslmode=verify-ca&sslrootcert=/nowhere/root.crt');
    expect(words).toContain("can't be reached with TLS: ENOENT: no such file or directory, open '/nowhere/root.crt'");
  });
});

describe.skipIf(!canRunPostgres())('with a server', () => {
  let cluster: Cluster;
  let issuer: string;
  beforeAll(async () => {
    cluster = await startCluster({
      tcp: { password: PASSWORD, tls: true },
      settings: { max_connections: 12, superuser_reserved_connections: 3 },
    });
    issuer = join(cluster.directory, 'tls.crt');
    await cluster.query('postgres', 'CREATE DATABASE errand OWNER errand');
    await cluster.query('postgres', "CREATE DATABASE latin OWNER errand ENCODING 'LATIN1' TEMPLATE template0");
    await cluster.query('postgres', "CREATE ROLE other LOGIN PASSWORD 'open-sesame'");
  }, 60_000);
  afterAll(() => cluster.close());

  /** The address on the loopback interface, as that of another machine would be. */
  const tcp = (database: string, query = '') => `${cluster.tcpUrl(database)}${query}`;

  test('a database in order is opened: by the socket, with a password, with each mode of TLS', async () => {
    expect(await opening(cluster.url('errand'))).toBe('opened');
    expect(await opening(tcp('errand'))).toBe('opened');
    for (const mode of ['require', `verify-ca&sslrootcert=${issuer}`, `verify-full&sslrootcert=${issuer}`])
      expect(await opening(tcp('errand', `?sslmode=${mode}`))).toBe('opened');
  });

  test('no password, and a wrong one', async () => {
    expect(await opening(tcp('errand').replace(`:${PASSWORD}`, ''))).toContain(
      'asks for the password of errand, and the address has none. Put the address with it into a file, and name that in database_file.',
    );
    expect(await opening(tcp('errand').replace(PASSWORD, 'wrong'))).toMatch(
      /refused the password of errand\. Correct it in the address, or set it, as its administrator \(psql -d postgres\): \\password "errand"$/,
    );
  });

  test('a role that there is not', async () => {
    expect(await opening(cluster.url('errand', 'nobody2'))).toContain(
      `knows no role nobody2. Run, as its administrator (psql -d postgres): CREATE ROLE "nobody2" LOGIN PASSWORD '…';`,
    );
  });

  test('a database that there is not; its words make it', async () => {
    const words = await opening(cluster.url('missing'));
    expect(words).toContain('The PostgreSQL database missing at ');
    const [, statement] = /psql -d postgres\): (.*)$/.exec(words)!;
    await cluster.query('postgres', statement!);
    expect(await opening(cluster.url('missing'))).toBe('opened');
  });

  test('a database that another role owns, and one that is closed; their words open them', async () => {
    const words = await opening(cluster.url('errand', 'other'));
    expect(words).toContain('gives other no schema to make tables in');
    const [, statement] = /psql -d errand\): (.*)$/.exec(words)!;
    await cluster.query('errand', statement!);
    expect(await opening(cluster.url('errand', 'other'))).toBe('opened');

    await cluster.query('postgres', 'CREATE DATABASE closed OWNER errand');
    await cluster.query('postgres', 'REVOKE CONNECT ON DATABASE closed FROM public');
    const closed = await opening(cluster.url('closed', 'other'));
    const [, grant] = /psql -d postgres\): (.*)$/.exec(closed)!;
    await cluster.query('postgres', grant!);
    expect(await opening(cluster.url('closed', 'other'))).toContain('no schema to make tables in');
  });

  test('a table of another owner in a schema that is open', async () => {
    await cluster.query('errand', 'CREATE TABLE theirs (id int)');
    const client = new Client(clientConfig(addressOf(cluster.url('errand'))));
    await client.connect();
    const error = await client.query('SELECT * FROM theirs').catch((failed: unknown) => failed);
    await client.end();
    expect((explainOpening(error, addressOf(cluster.url('errand'))) as Error).message).toContain(
      'refuses errand what Errand needs: permission denied for table theirs',
    );
  });

  test('an encoding that is not UTF-8', async () => {
    expect(await opening(cluster.url('latin'))).toContain(
      `has the encoding LATIN1, and Errand needs UTF8. Make it anew, as its administrator (psql -d postgres): DROP DATABASE "latin"; CREATE DATABASE "latin"`,
    );
  });

  test('no line of pg_hba.conf', async () => {
    const client = new Client({ host: cluster.directory, port: cluster.port!, user: 'postgres', database: 'postgres' });
    await client.connect();
    const file = join(cluster.directory, 'data', 'pg_hba.conf');
    onTestFinished(async () => {
      writeFileSync(file, 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n');
      await client.query('SELECT pg_reload_conf()');
      await client.end();
    });
    writeFileSync(file, 'local all postgres trust\n');
    await client.query('SELECT pg_reload_conf()');
    await expect
      .poll(() => opening(cluster.url('errand')))
      .toMatch(/refused the log-in: no pg_hba\.conf entry for host/);
    expect(await opening(tcp('errand'))).toContain('Add a line for it to pg_hba.conf of the server');
    writeFileSync(file, 'local all postgres trust\nlocal all all peer\n');
    await client.query('SELECT pg_reload_conf()');
    await expect
      .poll(() => opening(cluster.url('errand')))
      .toContain('lets errand in by its socket only as the user errand');
  });

  test('certificates that do not verify', async () => {
    const { cert } = makeCertificate('localhost');
    const other = join(temporaryDirectory({ 'root.crt': cert }), 'root.crt');
    const byAddress = (query: string) => tcp('errand', query).replace('localhost', '127.0.0.1');
    for (const query of ['?sslmode=verify-full', `?sslmode=verify-ca&sslrootcert=${other}`])
      expect(await opening(tcp('errand', query))).toContain('has a certificate that nothing vouches for');
    const words = await opening(byAddress(`?sslmode=verify-full&sslrootcert=${issuer}`));
    expect(words).toContain('has a certificate for other names');
    expect(words).toContain('instead of 127.0.0.1, or use sslmode=verify-ca');
    expect(await opening(byAddress(`?sslmode=verify-ca&sslrootcert=${issuer}`))).toBe('opened');
  });

  test('no connection left', async () => {
    const clients = Array.from({ length: 9 }, () => new Client(clientConfig(addressOf(cluster.url('errand')))));
    await Promise.all(clients.map((client) => client.connect()));
    const words = await opening(cluster.url('errand'));
    await Promise.all(clients.map((client) => client.end()));
    expect(words).toContain('has no connection left. Lower database_connections');
    await expect.poll(() => opening(cluster.url('errand'))).toBe('opened');
    await cluster.query('postgres', 'ALTER ROLE errand CONNECTION LIMIT 0');
    expect(await opening(cluster.url('errand'))).toContain('or CONNECTION LIMIT of the role');
    await cluster.query('postgres', 'ALTER ROLE errand CONNECTION LIMIT -1');
  });

  test('a read-only database', async () => {
    await cluster.query('postgres', 'ALTER ROLE errand SET default_transaction_read_only = on');
    const client = new Client(clientConfig(addressOf(cluster.url('errand'))));
    await client.connect();
    const error = await client.query('CREATE TABLE t (id int)').catch((failed: unknown) => failed);
    await client.end();
    await cluster.query('postgres', 'ALTER ROLE errand RESET default_transaction_read_only');
    expect((explainOpening(error, addressOf(cluster.url('errand'))) as Error).message).toContain(
      'is read-only: a standby, or default_transaction_read_only is set. Name the primary server.',
    );
  });

  test('a server without TLS', async () => {
    await cluster.query('postgres', 'ALTER SYSTEM SET ssl = off');
    await cluster.query('postgres', 'SELECT pg_reload_conf()');
    await expect
      .poll(() => opening(tcp('errand', '?sslmode=require')))
      .toMatch(/has no TLS\. Set ssl = on in its postgresql\.conf.*add sslmode=disable/);
  });
});

describe('servers that are not here', () => {
  const address = addressOf('postgres://errand@db.example.com/errand');
  const facts = ['170004', '17.4', 'UTF8', 'false', 'public', 'true'];

  test.for([
    [{ 0: '140009', 1: '14.9' }, 'is of PostgreSQL 14.9, and Errand needs 15 or newer'],
    [{ 3: 'true' }, 'is a standby, where nothing can be written. Name the primary server.'],
    [{ 4: '', 5: 'false' }, 'GRANT USAGE, CREATE ON SCHEMA "public" TO "errand";'],
  ] as const)('%o is refused', ([wrong, words]) => {
    const seen = facts.map((fact, at) => (wrong as Readonly<Record<number, string>>)[at] ?? fact);
    expect(() => requireServer(seen, address)).toThrow(words);
  });

  test('a newer server is welcome', () => {
    expect(() => requireServer(facts, address)).not.toThrow();
  });

  test.for<readonly [code: string, message: string, words: string]>([
    ['57P03', 'the database system is starting up', 'is starting up, shutting down or recovering'],
    ['57P01', 'terminating connection due to administrator command', 'ended the connection: its server is stopping'],
    ['ECONNRESET', 'read ECONNRESET', 'ended the connection: its server is stopping'],
    ['EPIPE', 'write EPIPE', 'is not reachable: no server listens there'],
    ['08P01', 'unsupported startup parameter: options', 'is behind a proxy that refuses the connection'],
    ['CERT_HAS_EXPIRED', 'certificate has expired', 'Renew it on the server.'],
    ['XX000', 'something new', "can't be opened: something new (XX000)"],
  ])('%s: %s', ([code, message, words]) => {
    const thrown = Object.assign(new Error(message), { code, syscall: message.split(' ')[0] });
    const explained = explainOpening(thrown, address);
    expect((explained as Error).message).toContain(words);
    expect(mayPass(explained)).toBe(/^(57P|EPIPE|ECONNRESET)/.test(code));
  });

  test('a bug is left as it is', () => {
    const bug = new TypeError('undefined is not a function');
    expect(explainOpening(bug, address)).toBe(bug);
  });
});
