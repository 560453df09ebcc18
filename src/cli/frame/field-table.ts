// The fields of a record in one table: how each is shown, and the option that sets it.
import type { Cell, Column } from '../../terminal/columns.ts';
import type { OptionsOf, TypedOption } from './options.ts';

/** How a field is shown. With a worth, lists have it, too; otherwise only what shows one thing alone. */
interface Shown<Row> extends Partial<Omit<Column<Row>, 'name'>> {
  /** The name of the column, where it is not the field's. */
  readonly called?: string;
}

/** Fields by their names in the record, in the order of the columns. What a change can name can have an option. */
type FieldTable<Row, Change> = {
  readonly [N in keyof Row]?: Shown<Row> &
    (N extends keyof Change ? { readonly option?: TypedOption<Exclude<Change[N], undefined>> } : unknown);
};

interface Line<Row> extends Shown<Row> {
  readonly option?: TypedOption<unknown>;
}

/** The columns of a table, and its options. */
export function fieldTable<Row, Change>(
  table: FieldTable<Row, Change>,
): {
  readonly inAList: readonly Column<Row>[];
  readonly alone: readonly Column<Row>[];
  readonly options: OptionsOf<Change>;
} {
  const lines = Object.entries<Line<Row>>(table as Readonly<Record<string, Line<Row>>>);
  const alone = lines.map(([name, line]) => ({
    name: line.called ?? name,
    value: (row: Row) => row[name as keyof Row] as Cell,
    ...line,
  }));
  const options = lines.flatMap(([name, { option }]) => (option === undefined ? [] : [[name, option] as const]));
  return {
    alone,
    inAList: alone.filter(({ worth }) => worth !== undefined),
    options: Object.fromEntries(options) as OptionsOf<Change>,
  };
}
