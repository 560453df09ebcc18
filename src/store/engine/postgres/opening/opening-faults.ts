// Why a PostgreSQL database can't be opened, in words for its administrator that say what to run.
import { ErrandError } from '../../../../domain/errors.ts';
import { isSocket, nameOf, placeOf, type PostgresAddress } from '../connections/address.ts';

/** What was thrown: an error of the server, of the network or of the client. */
interface Thrown {
  /** SQLSTATE, or the code of Node.js; empty without. */
  readonly code: string;
  readonly message: string;
  /** What Node.js wanted of the system. */
  readonly syscall: string;
}

interface Fault {
  /** Whether it may be over soon by itself. */
  readonly passes?: true;
  applies(thrown: Thrown): boolean;
  /** Completes "The PostgreSQL database errand at … ". */
  words(address: PostgresAddress, thrown: Thrown): string;
}

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** A statement for the server's administrator, in the database that is named. */
export const psql = (statement: string, database = 'postgres') =>
  `as its administrator (psql -d ${database}): ${statement}`;

/** Makes a database that Errand can use. */
export const createDatabase = ({ database, user }: PostgresAddress) =>
  `CREATE DATABASE ${quoted(database)} OWNER ${quoted(user)} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0;`;

const codes =
  (pattern: RegExp, words = /(?:)/) =>
  ({ code, message }: Thrown) =>
    pattern.test(code) && words.test(message);

/** A connection that ends is read, too. */
const isOfFile = ({ code, syscall }: Thrown) => syscall === 'open' || (syscall === 'read' && code === 'EISDIR');

/** What doesn't verify. */
const CERTIFICATE = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_)/;

const CHECK_RUNNING = ({ host, port }: PostgresAddress) => `Does it run? pg_isready -h ${host} -p ${port}`;

// In this order: the first one applies. Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html
const FAULTS: readonly Fault[] = [
  {
    applies: isOfFile,
    words: (_, { message }) =>
      `can't be reached with TLS: ${message}. The address names this file as sslrootcert, sslcert or sslkey.`,
  },
  {
    passes: true,
    applies: codes(/^(ECONNREFUSED|ENOENT|EPIPE)$/),
    words: (address) => {
      const nobody = isSocket(address) ? 'no server has this socket' : 'no server listens there';
      return `is not reachable: ${nobody}. ${CHECK_RUNNING(address)}`;
    },
  },
  {
    applies: codes(/^(EACCES|EPERM)$/),
    words: () => 'is closed to the user of this process: it may not open the socket.',
  },
  {
    passes: true,
    applies: codes(/^(ENOTFOUND|EAI_)/),
    words: ({ host }) =>
      `is not reachable: the name ${host} can't be resolved. Is it right, and does the name service answer?`,
  },
  {
    passes: true,
    applies: ({ code, message }) =>
      /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/.test(code) || /timeout expired/.test(message),
    words: (address) => `is not reachable: nothing answers there. Is a firewall in between? ${CHECK_RUNNING(address)}`,
  },
  {
    applies: ({ message }) => /does not support SSL/.test(message),
    words: () =>
      'has no TLS. Set ssl = on in its postgresql.conf, with a certificate; or add sslmode=disable to the address if nobody can listen on the way.',
  },
  {
    applies: codes(/^ERR_TLS_CERT_ALTNAME_INVALID$/),
    words: ({ host }, { message }) =>
      `has a certificate for other names (${message}). Reach it by a name of the certificate instead of ${host}, or use sslmode=verify-ca.`,
  },
  { applies: codes(/^CERT_HAS_EXPIRED$/), words: () => 'has a certificate that has expired. Renew it on the server.' },
  {
    applies: codes(CERTIFICATE),
    words: (_, { message }) =>
      `has a certificate that nothing vouches for (${message}). Name the file of its issuer: sslrootcert=/path/to/root.crt in the address.`,
  },
  { applies: codes(/^(ERR_SSL|EPROTO)/), words: (_, { message }) => `can't be reached with TLS: ${message}.` },
  {
    applies: ({ message }) => /client password must be/.test(message),
    words: ({ user }) =>
      `asks for the password of ${user}, and the address has none. Put the address with it into a file, and name that in database_file.`,
  },
  {
    applies: codes(/^28P01$/),
    words: ({ user }) =>
      `refused the password of ${user}. Correct it in the address, or set it, ${psql(`\\password ${quoted(user)}`)}`,
  },
  {
    applies: codes(/^28000$/, /role .* does not exist/),
    words: ({ user }) => `knows no role ${user}. Run, ${psql(`CREATE ROLE ${quoted(user)} LOGIN PASSWORD '…';`)}`,
  },
  {
    applies: codes(/^28000$/, /[Pp]eer authentication/),
    words: ({ user }) =>
      `lets ${user} in by its socket only as the user ${user} of this machine. Run this as that user (runuser -u ${user} -- errand …), name the role of this process's user, or use host 127.0.0.1 and a password.`,
  },
  {
    applies: codes(/^28/),
    words: (_, { message }) =>
      `refused the log-in: ${message}. Add a line for it to pg_hba.conf of the server, then, ${psql('SELECT pg_reload_conf();')}`,
  },
  {
    applies: codes(/^3D000$/),
    words: (address) => `does not exist. Run, ${psql(createDatabase(address))}`,
  },
  {
    applies: codes(/^42501$/, /for database/),
    words: ({ database, user }) =>
      `is closed to ${user}. Run, ${psql(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(user)};`)}`,
  },
  {
    applies: codes(/^(42501|3F000)$/),
    words: ({ database, user }, { message }) =>
      `refuses ${user} what Errand needs: ${message}. Run, ${psql(`GRANT USAGE, CREATE ON SCHEMA public TO ${quoted(user)};`, database)}`,
  },
  {
    passes: true,
    applies: codes(/^53300$/),
    words: () =>
      'has no connection left. Lower database_connections, end other clients (pg_stat_activity), or raise max_connections, or CONNECTION LIMIT of the role.',
  },
  {
    passes: true,
    applies: codes(/^57P03$/),
    words: () => 'is starting up, shutting down or recovering. It may answer in a moment; its log says more.',
  },
  {
    passes: true,
    applies: codes(/^(57P0[12]|ECONNRESET)$/),
    words: (address) => `ended the connection: its server is stopping. ${CHECK_RUNNING(address)}`,
  },
  {
    applies: codes(/^25006$/),
    words: () => 'is read-only: a standby, or default_transaction_read_only is set. Name the primary server.',
  },
  {
    applies: codes(/^08P01$/, /startup parameter/),
    words: (_, { message }) =>
      `is behind a proxy that refuses the connection (${message}). With pgbouncer: pool_mode = session, and ignore_startup_parameters with what it names.`,
  },
];

/** What was thrown, and what is known of it. Null for what is explained already, and for a bug. */
function faultOf(error: unknown): { readonly thrown: Thrown; readonly fault: Fault | undefined } | null {
  if (!(error instanceof Error) || error instanceof ErrandError) return null;
  // A name with several addresses: the errors of all of them.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  if (first !== undefined) return faultOf(first);
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  const thrown = { code, syscall, message: error.message };
  const fault = FAULTS.find(({ applies }) => applies(thrown));
  return fault === undefined && code === '' && !ENDED.test(error.message) ? null : { thrown, fault };
}

/** Words of `pg` about connections that ended, which have no code. */
const ENDED = /^(Connection|Client)/;

/** The same error for the administrator, `unavailable` with what to do. What is explained already, and a bug, stay as they are. */
export function explainOpening(error: unknown, address: PostgresAddress): unknown {
  const found = faultOf(error);
  if (found === null) return error;
  const { thrown, fault } = found;
  const words =
    fault?.words(address, thrown) ?? `can't be opened: ${thrown.message} (${thrown.code || placeOf(address)}).`;
  return new ErrandError('unavailable', `${titleOf(address)} ${words}`, { cause: error });
}

/** Whether an explained error may be over soon by itself: a server that is starting, or a network that isn't there yet. */
export function mayPass(error: unknown): boolean {
  const found = error instanceof ErrandError && error.reason === 'unavailable' ? faultOf(error.cause) : null;
  return found !== null && (found.fault?.passes ?? found.thrown.code === '');
}

/** Its name where a sentence begins. */
export const titleOf = (address: PostgresAddress) => nameOf(address).replace(/^t/, 'T');
