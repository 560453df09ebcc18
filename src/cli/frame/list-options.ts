// Options that many lists have.
import { InvalidArgumentError, Option } from 'commander';
import { idOrStart, integerIn, notEmpty } from './arguments.ts';
import { option, type TypedOption } from './options.ts';

function rowLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= 1 && limit <= 500) return limit;
  throw new InvalidArgumentError('It must be a number from 1 to 500.');
}

/** Maximum number of rows of a list. */
export const LIMIT = { limit: option('--limit <count>', 'maximum number of rows, up to 500 (default: 100)', rowLimit) };

/** Which part of a list: at most how many rows, and how many are left out at its beginning. */
export const PART = {
  ...LIMIT,
  offset: option('--offset <count>', 'rows to skip', integerIn({ from: 0, to: Number.MAX_SAFE_INTEGER })),
};

export const OF_SESSION = option('--session <id>', 'only those of this session', idOrStart);
export const OF_USER = option('--user <user>', 'only those of this user, by name or id', notEmpty);

/** Those that are enabled, or those that are disabled. */
export const ENABLED: TypedOption<boolean> = {
  options: [
    new Option('--enabled', 'only those that are enabled'),
    new Option('--disabled', 'only those that are disabled').conflicts('enabled'),
  ],
  valueIn: ({ enabled, disabled }) => (enabled === true || disabled === true ? enabled === true : undefined),
};
