// The address of a PostgreSQL database: reads it, names it without its password, and makes of it what the client needs.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { getCACertificates } from 'node:tls';
import type { ClientConfig } from 'pg';

/** What a connection does about TLS, in libpq's words. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** Where a database is, and how it is reached. */
export interface PostgresAddress {
  /** A name, an address, or the directory of the server's Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Functions, so that whatever writes an address down leaves them out: the password, and the whole as it was written. */
  readonly password: () => string | undefined;
  readonly text: () => string;
  readonly sslMode: SslMode;
  /** Files in PEM; `sslRootCert` can be `system`. */
  readonly sslRootCert: string | null;
  readonly sslCert: string | null;
  readonly sslKey: string | null;
  readonly applicationName: string;
  readonly connectTimeoutSeconds: number;
}

export type AddressRead =
  | { readonly ok: true; readonly address: PostgresAddress }
  /** `problems` contain neither the user nor the password. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Where Debian's servers have their sockets. */
const SOCKET_DIRECTORY = '/run/postgresql';
const PORT = 5432;
const CONNECT_TIMEOUT_SECONDS = 10;

const FORM =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(\[[^\]]*\]|[^:@/?#[\]]*)(?::(\d*))?(?:\/([^/?#@]*))?(?:\?([^#]*))?$/i;
const MUST_BE = 'must be an address like postgres://errand@db.example.com/errand?sslmode=verify-full';
const ENCODED = 'In names and passwords, write @ : / ? # % and spaces as %40 %3A %2F %3F %23 %25 %20';

const PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'application_name',
  'connect_timeout',
] as const;
type Parameter = (typeof PARAMETERS)[number];

/** Reads an address as libpq does: what its query says counts more than what stands before. */
export function readPostgresAddress(written: string): AddressRead {
  const problems: string[] = [];
  const text = written.trim();
  const parts = FORM.exec(text);
  if (parts === null) return { ok: false, problems: [`${MUST_BE}. ${ENCODED}`] };
  const [, user = '', password = '', host = '', port = '', dbname = '', query = ''] = parts;
  const given = new Map<Parameter, string>();
  const give = (name: Parameter, encoded: string) => {
    const value = decoded(encoded);
    if (value === null || value.includes('\0')) problems.push(`has a ${name} that can't be read. ${ENCODED}`);
    else if (value !== '') given.set(name, value);
  };
  for (const [name, value] of Object.entries({ user, password, port, dbname })) give(name as Parameter, value);
  give('host', host.replace(/^\[(.*)\]$/, '$1'));
  for (const pair of query.split('&').filter((one) => one !== '')) {
    const [name = '', ...value] = pair.split('=');
    const known = PARAMETERS.find((parameter) => parameter === name);
    if (known === undefined) problems.push(`has a parameter that is none of ${PARAMETERS.join(', ')}`);
    else give(known, value.join('='));
  }
  const address = { ...addressOf(given, problems), text: () => text };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, address };
}

function addressOf(given: ReadonlyMap<Parameter, string>, problems: string[]): Omit<PostgresAddress, 'text'> {
  const wrong = (words: string) => void problems.push(words);
  const wholeNumber = (name: Parameter, fallback: number, maximum: number) => {
    const text = given.get(name) ?? String(fallback);
    const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > maximum) wrong(`has a ${name} that is not a whole number from 1 to ${maximum}`);
    return value;
  };
  const file = (name: Parameter) => given.get(name) ?? null;
  const host = given.get('host') ?? SOCKET_DIRECTORY;
  if (host.includes(',')) wrong('names several servers; name one, such as the address that follows the primary');
  const user = given.get('user') ?? userOfProcess();
  if (user === null) wrong('must name a user: this process has none of its own');
  const database = given.get('dbname') ?? user ?? '';
  const password = given.get('password');
  const address = {
    host,
    port: wholeNumber('port', PORT, 65_535),
    database,
    user: user ?? '',
    password: () => password,
    sslMode: sslModeOf(given.get('sslmode'), host, wrong),
    sslRootCert: file('sslrootcert'),
    sslCert: file('sslcert'),
    sslKey: file('sslkey'),
    applicationName: given.get('application_name') ?? 'errand',
    connectTimeoutSeconds: wholeNumber('connect_timeout', CONNECT_TIMEOUT_SECONDS, 600),
  };
  if (address.sslMode === 'verify-ca' && address.sslRootCert === null)
    wrong('must have sslrootcert with sslmode=verify-ca: any public issuer could vouch for another server');
  if (address.sslMode !== 'verify-full' && address.sslRootCert === 'system')
    wrong('must have sslmode=verify-full with sslrootcert=system');
  if ((address.sslCert === null) !== (address.sslKey === null)) wrong('must have both sslcert and sslkey, or neither');
  return address;
}

/**
 * Without a mode, what libpq's `prefer` nearly always comes to: encrypted to other machines, plain on this one. The client can't try one
 * after the other, so where a server on another machine has no TLS, the address must say `disable`.
 */
function sslModeOf(written: string | undefined, host: string, wrong: (words: string) => void): SslMode {
  const mode = SSL_MODES.find((one) => one === written);
  if (mode !== undefined) return mode;
  if (written !== undefined && written !== 'prefer' && written !== 'allow')
    wrong(`has an sslmode that is none of ${SSL_MODES.join(', ')}`);
  return isOfThisMachine(host) ? 'disable' : 'require';
}

/** Whether a server is reached by a Unix socket. */
export const isSocket = ({ host }: Pick<PostgresAddress, 'host'>): boolean => host.startsWith('/');

function isOfThisMachine(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return isSocket({ host }) || host === '::1' || host.toLowerCase() === 'localhost';
}

/** The path of the server's socket, or its host and port. */
export function placeOf(address: Pick<PostgresAddress, 'host' | 'port'>): string {
  const { host, port } = address;
  if (isSocket(address)) return `${host.replace(/\/+$/, '')}/.s.PGSQL.${port}`;
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** The database for people, without user and password: for logs, errors and status. */
export function nameOf(address: Pick<PostgresAddress, 'host' | 'port' | 'database'>): string {
  return `the PostgreSQL database ${address.database} at ${placeOf(address)}`;
}

/** An address for people, without its password; anything else unchanged. */
export function withoutPassword(text: string): string {
  if (!/^\s*postgres(ql)?:/i.test(text)) return text;
  return text.replace(/(:\/\/[^:/?#]*:).*@/s, '$1[removed]@').replaceAll(/([?&]password=)[^&]*/gi, '$1[removed]');
}

/** What the client needs; reads the files of TLS as they are now. Throws where one can't be read. */
export function clientConfig(address: PostgresAddress): ClientConfig {
  return {
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    password: address.password(),
    ssl: tlsOf(address),
    application_name: address.applicationName,
    connectionTimeoutMillis: address.connectTimeoutSeconds * 1000,
    keepAlive: true,
  };
}

function tlsOf({ host, sslMode, sslRootCert, sslCert, sslKey }: PostgresAddress): ClientConfig['ssl'] {
  if (sslMode === 'disable' || isSocket({ host })) return false;
  const read = (file: string | null) => (file === null ? undefined : readFileSync(file, 'utf8'));
  const own = { cert: read(sslCert), key: read(sslKey) };
  // As libpq does: who names an issuer wants the server checked against it.
  if (sslMode === 'require' && sslRootCert === null) return { ...own, rejectUnauthorized: false };
  const ca = sslRootCert === null || sslRootCert === 'system' ? publicIssuers() : read(sslRootCert);
  return sslMode === 'verify-full' ? { ...own, ca } : { ...own, ca, checkServerIdentity: () => undefined };
}

const publicIssuers = () => [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];

function userOfProcess(): string | null {
  try {
    return userInfo().username;
  } catch {
    // A user id without a name, as in containers.
    return null;
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
