// Numbers of rows that are drawn ahead: what refers to a new row needn't wait until the server has numbered it.
import type { Connection } from '../connections/connection.ts';
import { keyOf } from '../sql/schema.ts';

/** What asks for them. */
type Asker = Pick<Connection, 'ask'>;

export interface Keys {
  /** The next number of a table's rows; a promise while none is drawn; undefined where the server numbers them. */
  take(table: string, asker: Asker): number | Promise<number> | undefined;
  /** Draws more where few are left. Nothing waits for them. */
  refill(asker: Asker): void;
}

/**
 * The tables whose rows every turn adds. All their rows are numbered so, and thus in order: a number that the server gave in between would
 * be behind those that are drawn. Numbers of other tables have no gaps but those of failed transactions.
 */
const TABLES = ['sessions', 'runs', 'messages'];
/** How many are drawn at once; a restart loses what is left of them. */
const DRAWN = 64;

interface Drawn {
  readonly numbers: number[];
  drawing: Promise<void> | undefined;
}

/**
 * None: the server numbers all rows. Where several processes write, numbers that one has drawn ahead would be behind those of another,
 * though its rows come later.
 */
export const NO_KEYS: Keys = { take: () => undefined, refill: () => undefined };

/** Makes them, for the one connection that writes. */
export function makeKeys(): Keys {
  const drawn = new Map(TABLES.map((table): [string, Drawn] => [table, { numbers: [], drawing: undefined }]));

  function draw(table: string, of: Drawn, asker: Asker): Promise<void> {
    const sequence = `pg_get_serial_sequence('${table}', '${keyOf(table)!}')`;
    const text = `SELECT nextval(${sequence}) FROM generate_series(1, ${DRAWN})`;
    of.drawing ??= asker
      .ask({ name: `keys_${table}`, text }, [])
      .then(({ rows }) => void of.numbers.push(...rows.map(([number]) => number as number)))
      .finally(() => {
        of.drawing = undefined;
      });
    return of.drawing;
  }

  async function drawOne(table: string, of: Drawn, asker: Asker): Promise<number> {
    for (;;) {
      await draw(table, of, asker);
      const number = of.numbers.shift();
      if (number !== undefined) return number;
    }
  }

  return {
    take: (table, asker) => {
      const of = drawn.get(table);
      return of && (of.numbers.shift() ?? drawOne(table, of, asker));
    },
    refill: (asker) => {
      for (const [table, of] of drawn) {
        if (of.numbers.length <= DRAWN / 2) draw(table, of, asker).catch(() => undefined);
      }
    },
  };
}
