// What was asked for and isn't there, by the name that it was asked for.
import type { IdNoun } from '../domain/ids.ts';
import { ClientError, refusalStatusOf } from './transport/client-error.ts';

/** What a request names: as its caller wrote it, and of which noun that is, where a shape says so. */
export interface Named {
  readonly reference: string;
  readonly noun?: IdNoun | undefined;
}

/** `Scheduled task not found.`, as the daemon says it. */
const NOT_FOUND = /^([A-Z][A-Za-z]*(?: [a-z]+)*) not found\.$/;
/** Longer names are cut. */
const MAX_NAME = 200;

/** What the daemon calls them, where that isn't the noun. */
const KINDS: Readonly<Partial<Record<IdNoun, string>>> = { 'user-inputs': 'question' };

const kindOf = (noun: IdNoun): string => KINDS[noun] ?? noun.replaceAll('-', ' ').replace(/s$/, '');

/** The error, with the name of what wasn't found in its message: of all that a request names, what is of that kind, else the last of no noun. */
export function namingWhat(error: unknown, named: readonly Named[]): unknown {
  if (!(error instanceof ClientError) || refusalStatusOf(error) !== 404) return error;
  const kind = NOT_FOUND.exec(error.message)?.[1];
  if (kind === undefined) return error;
  const ofKind = named.find(({ noun }) => noun !== undefined && kindOf(noun) === kind.toLowerCase());
  const what = ofKind ?? named.findLast(({ noun }) => noun === undefined);
  if (what === undefined) return error;
  const name = what.reference.slice(0, MAX_NAME);
  return new ClientError(error.failure, `${kind} "${name}" not found.`, { cause: error, trace: error.trace });
}
