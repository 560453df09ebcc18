// Classifies the errors of PostgreSQL and of the connections to it, and words them for callers and for operators.
import { ErrandError, messageOf } from '../../../../domain/errors.ts';
import { StorageRefusal } from '../../storage-refusal.ts';

/**
 * `away`: the connection is lost, or none can be made. `again`: the transaction has to be carried out once more. `locked`: others
 * hold it. `refused`: it accepted nothing; it may later. `damaged`: rows can't be read.
 */
export type FaultKind = 'away' | 'again' | 'locked' | 'refused' | 'damaged';

const PASSING: ReadonlySet<FaultKind> = new Set(['away', 'again', 'locked'] as const);

interface Fault {
  /** SQLSTATE, or the code of Node.js. */
  readonly codes: RegExp;
  readonly kind: FaultKind;
  /** Completes "The daemon's database …". Callers read it: no addresses, no codes. */
  readonly words: string;
  /** What the operator does about it. */
  readonly advice: string;
}

const AWAY = 'is not reachable';
const CHECK_SERVER = 'See whether the server runs, and its log.';

// In this order: the first match applies. Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html
const FAULTS: readonly Fault[] = [
  { codes: /^40(001|P01)$/, kind: 'again', words: 'is busy with other work', advice: 'Try again.' },
  { codes: /^(57P0[1-5]|08|25P03)/, kind: 'away', words: AWAY, advice: CHECK_SERVER },
  { codes: /^(E(?!RR_)[A-Z_]+|ERR_(SSL|TLS|SOCKET|STREAM)_\w+)$/, kind: 'away', words: AWAY, advice: CHECK_SERVER },
  {
    codes: /^53300$/,
    kind: 'refused',
    words: 'has no connection left',
    advice: 'Raise max_connections of the server, or lower database_connections.',
  },
  {
    codes: /^53100$/,
    kind: 'refused',
    words: 'refuses to write: no space is left on its disk',
    advice: 'Make room on the disk of the server.',
  },
  { codes: /^53/, kind: 'refused', words: 'refuses: it lacks resources', advice: CHECK_SERVER },
  {
    codes: /^25006$/,
    kind: 'refused',
    words: 'refuses to write: it is read-only',
    advice: 'Name the primary server: this is a standby, or default_transaction_read_only is set.',
  },
  {
    codes: /^(55P03|57014)$/,
    kind: 'locked',
    words: 'is locked by another client, or too slow',
    advice: 'See pg_stat_activity and pg_locks for what holds it.',
  },
  {
    codes: /^(42501|28)/,
    kind: 'refused',
    words: 'refuses: rights are missing',
    advice: 'Give the role its rights on the schema of Errand back.',
  },
  { codes: /^(XX00[12]|58)/, kind: 'damaged', words: 'is damaged', advice: CHECK_SERVER },
];

/** Words of `pg` about connections that ended, which have no code. */
const ENDED = /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;

function faultOf(error: unknown): Fault | undefined {
  // Other errors keep their own messages, whatever caused them.
  const thrown = error instanceof ErrandError && error.reason === 'unavailable' ? error.cause : error;
  if (!(thrown instanceof Error) || thrown instanceof ErrandError) return undefined;
  const { code } = thrown as Error & { readonly code?: unknown };
  if (typeof code === 'string') return FAULTS.find(({ codes }) => codes.test(code));
  return ENDED.test(thrown.message) ? { codes: ENDED, kind: 'away', words: AWAY, advice: CHECK_SERVER } : undefined;
}

/** The kind of fault behind an error, or behind what `refusalOf` made of one; undefined for any other error. */
export const faultKindOf = (error: unknown): FaultKind | undefined => faultOf(error)?.kind;

/** Whether it is the server's answer to a statement. Any other error says nothing of what became of it. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && faultKindOf(error) !== 'away';

/** The error for a caller: `unavailable` for trouble with the database. Any other error unchanged. */
export function refusalOf(error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === undefined || error instanceof ErrandError) return error;
  return new StorageRefusal(`The daemon's database ${fault.words}.`, { passes: PASSING.has(fault.kind), cause: error });
}

/** The same for the operator: which database it is, and what to do. Any other error unchanged. `name`: without a password. */
export function explainToOperator(error: unknown, name: string): unknown {
  const fault = faultOf(error);
  if (fault === undefined) return error;
  const thrown = error instanceof ErrandError ? error.cause : error;
  const words = `${name} ${fault.words} (${messageOf(thrown)}). ${fault.advice}`;
  return new ErrandError('unavailable', words, { cause: thrown });
}
