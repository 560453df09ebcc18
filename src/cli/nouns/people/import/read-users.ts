// The users of a CSV file, as programs for tables write it, and what is wrong with each line.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { CsvError, type Info, parse } from 'csv-parse/sync';
import { MB } from '../../../../domain/byte-units.ts';
import { ErrandError, messageOf } from '../../../../domain/errors.ts';
import { MOST_IMPORTED, type WantedUserWire, wantedUser } from '../../../../wire/people/user-import.ts';
import { NONE } from '../../../frame/options.ts';
import { CommandError } from '../../../frame/exit-codes.ts';

/** A user with the line that they begin on. */
export interface ReadUser {
  readonly line: number;
  readonly user: WantedUserWire;
}

/** `column` is null where the whole line is wrong. */
export interface LineProblem {
  readonly line: number;
  readonly column: string | null;
  readonly message: string;
}

export interface ReadFile {
  readonly users: readonly ReadUser[];
  readonly problems: readonly LineProblem[];
}

const COLUMNS = ['username', 'full_name', 'department', 'role', 'team', 'scenario'] as const;
const CLEARABLE: ReadonlySet<string> = new Set(['team', 'scenario']);
const MAX_BYTES = MB;
/** What separates cells: by what there is most of in the first line. */
const DELIMITERS = [',', ';', '\t'] as const;

/** Reads it. Throws `usage` when it can't be a table of users at all. */
export function readUsers(file: string): ReadFile {
  const text = readText(file);
  let records: readonly Record[];
  try {
    records = parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      columns: namesOf,
      info: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
      max_record_size: 10_000,
    }) as unknown as readonly Record[];
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (error instanceof CsvError)
      return { users: [], problems: [{ line: lineOf(error), column: null, message: error.message }] };
    throw error;
  }
  if (records.length > MOST_IMPORTED)
    throw new CommandError('usage', `${file} has ${records.length} users. Import at most ${MOST_IMPORTED} at a time.`);
  return usersOf(records);
}

/** A row by its columns, and where it ends. */
interface Record {
  readonly record: Readonly<{ [column: string]: string }>;
  readonly info: Info;
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    const handle = openSync(file, 'r');
    try {
      if (fstatSync(handle).size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
      bytes = readFileSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw new CommandError('usage', `${file} could not be read: ${messageOf(error)}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError('usage', `${file} is not UTF-8. Save it as "CSV UTF-8".`);
  }
}

function delimiterOf(text: string): string {
  const [head = ''] = text.split('\n', 1);
  const count = (delimiter: string) => head.split(delimiter).length;
  return DELIMITERS.reduce((best, other) => (count(other) > count(best) ? other : best));
}

/** `Full name` is `full_name`. */
function namesOf(heads: readonly string[]): string[] {
  const names = heads.map((head) =>
    head
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_'),
  );
  const known = `The columns are ${COLUMNS.join(', ')}; all but the first can be left out.`;
  const unknown = names.find((name) => !(COLUMNS as readonly string[]).includes(name));
  if (unknown !== undefined) throw new CommandError('usage', `There is no column ${unknown}. ${known}`);
  if (!names.includes('username'))
    throw new CommandError('usage', `The first line must name a column username. ${known}`);
  if (new Set(names).size < names.length) throw new CommandError('usage', 'Two columns have the same name.');
  return names;
}

const lineOf = (error: CsvError): number => (typeof error['lines'] === 'number' ? error['lines'] : 1);

function usersOf(records: readonly Record[]): ReadFile {
  const users: ReadUser[] = [];
  const problems: LineProblem[] = [];
  for (const { record, info } of records) {
    const line = info.lines;
    try {
      const user = cellsOf(record);
      wantedUser.read(user, '');
      users.push({ line, user: user as WantedUserWire });
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      problems.push({ line, column: null, message: error.message });
    }
  }
  return { users, problems };
}

/** An empty cell leaves its field as it is. */
function cellsOf(record: Record['record']): { [column: string]: string | null } {
  const filled = Object.entries(record).filter(([column, cell]) => cell !== '' || column === 'username');
  return Object.fromEntries(
    filled.map(([column, cell]) => [column, CLEARABLE.has(column) && cell === NONE ? null : cell]),
  );
}
