// Numbers of rows that are drawn ahead: what refers to a new row needn't wait until the server has numbered it.
import type { Connection } from './connection.ts';
import { keyOf } from './schema.ts';

export interface Keys {
  /** The next number of a table's rows; undefined where the server numbers them, or while none is drawn. */
  take(table: string): number | undefined;
  /** Draws more on a connection where few are left. Nothing waits for them. */
  refill(connection: Connection): void;
}

/** The tables whose rows every turn adds. Numbers of others have no gaps but those of failed transactions. */
const TABLES = ['sessions', 'runs', 'messages'];
/** How many are drawn at once; a restart loses what is left of them. */
const DRAWN = 64;

interface Drawn {
  numbers: number[];
  isDrawing: boolean;
}

/** Makes them, for the one connection that writes. */
export function makeKeys(): Keys {
  const drawn = new Map(TABLES.map((table): [string, Drawn] => [table, { numbers: [], isDrawing: false }]));
  return {
    take: (table) => drawn.get(table)?.numbers.shift(),
    refill: (connection) => {
      for (const [table, of] of drawn) {
        if (of.isDrawing || of.numbers.length > DRAWN / 2) continue;
        of.isDrawing = true;
        const sequence = `pg_get_serial_sequence('${table}', '${keyOf(table)!}')`;
        connection
          .ask({ name: `keys_${table}`, text: `SELECT nextval(${sequence}) FROM generate_series(1, ${DRAWN})` }, [])
          .then(({ rows }) => void of.numbers.push(...rows.map(([number]) => number as number)))
          .catch(() => undefined)
          .finally(() => {
            of.isDrawing = false;
          });
      }
    },
  };
}
