// Rows in the names of the domain: the column `user_seq` is the field `userSeq`. Where a column is more than a plain value, a kind of rows
// says what it is.

/** What a column holds as it is. */
type Plain = string | number | bigint | Uint8Array | null;

/** What makes a field of a column's value. */
type ColumnReader<T> = (value: never) => T;

/** A field is a column as it is, where it can be, or a column that is read, or an object of several columns. */
type FieldOf<T> = ([T] extends [Plain] ? typeof plain : never) | ColumnReader<T> | RowKind<T>;

/** All fields of a row, in the order in which it has them. */
export type Fields<Row> = { readonly [N in keyof Row]-?: FieldOf<Row[N]> };

/** A column as it is. */
export const plain = null;

/** 0 or 1. */
export const flag = (value: number): boolean => value === 1;

/** JSON text; NULL stays null. */
export const json = <T>(value: string | null): T => (value === null ? null : JSON.parse(value)) as T;

/** Rows with these fields, whatever other columns a statement has. */
export interface RowKind<Row> {
  readonly fields: Fields<Row>;
  /** What the names of its columns begin with. */
  readonly prefix: string;
  /** The field without which there is no row, but null. */
  readonly key: string | null;
  /** Its columns, as a SELECT names those of a table with this alias. */
  of(alias: string): string;
}

/** The same within another row, or null where its key is NULL, as in an outer join. */
export function orNull<Row>(kind: RowKind<Row>, key: keyof Row & string): RowKind<Row | null> {
  return { ...kind, key };
}

type AnyFields = Readonly<Record<string, FieldOf<unknown>>>;

/** Makes a kind. A row doesn't compile without each of its fields. With a prefix, it is for an object within a row. */
export function rowKind<Row>(fields: Fields<Row>, prefix = ''): RowKind<Row> {
  const columns = columnsOf(fields as unknown as AnyFields, prefix);
  return {
    fields,
    prefix,
    key: null,
    of: (alias) => columns.map(({ column, as }) => `${alias}.${column}${as === column ? '' : ` AS ${as}`}`).join(', '),
  };
}

function columnsOf(fields: AnyFields, prefix: string): readonly { readonly column: string; readonly as: string }[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (isKind(field)) return columnsOf(field.fields, prefix + field.prefix);
    const column = columnOf(name);
    return [{ column, as: prefix + column }];
  });
}

const isKind = (field: FieldOf<unknown>): field is RowKind<unknown> => typeof field === 'object' && field !== null;

/** Makes a row of the values of a statement's columns. */
export type RowMapper = (values: readonly Plain[]) => object;

/** Of an object that is always there. */
const NO_KEY = -1;

/** A field of a row: where its value is, or of an object its key, and what is made of it. */
interface Cell {
  readonly name: string;
  readonly at: number;
  readonly read: ColumnReader<unknown> | null;
  readonly inner: RowMapper | null;
}

/** Makes the mapper of a statement: without a kind, all columns are fields. Throws when one of the kind's is missing. */
export function makeRowMapper(columns: readonly string[], kind: RowKind<unknown> | undefined): RowMapper {
  if (kind !== undefined) return mapperOf(cellsOf(columns, kind.fields, kind.prefix));
  return mapperOf(columns.map((column, at) => ({ name: fieldOf(column), at, read: null, inner: null })));
}

function cellsOf(columns: readonly string[], fields: AnyFields, prefix: string): readonly Cell[] {
  return Object.entries(fields).map(([name, field]) => {
    if (isKind(field)) {
      const within = cellsOf(columns, field.fields, prefix + field.prefix);
      const key = within.find((cell) => cell.name === field.key);
      return { name, at: key?.at ?? NO_KEY, read: null, inner: mapperOf(within) };
    }
    const column = prefix + columnOf(name);
    const at = columns.indexOf(column);
    if (at === -1) throw new Error(`The statement has no column ${column}.`);
    return { name, at, read: field, inner: null };
  });
}

/** All rows have their fields in the same order, so that the JavaScript engine has one hidden class for them. */
function mapperOf(cells: readonly Cell[]): RowMapper {
  return (values) => {
    const row: Record<string, unknown> = {};
    for (const { name, at, read, inner } of cells) {
      const value = values[at];
      if (inner !== null) row[name] = value === null ? null : inner(values);
      else row[name] = read === null ? value : read(value as never);
    }
    return row;
  };
}

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const fieldOf = (column: string) => column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
