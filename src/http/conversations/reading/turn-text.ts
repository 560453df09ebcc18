// The text of one turn: read from where it is stored, and counted before it is held.
import { MB } from '../../../domain/byte-units.ts';
import { ErrandError } from '../../../domain/errors.ts';
import { string } from '../../../wire/shapes/scalars.ts';
import { requireNoStandIn } from '../../../wire/shapes/stand-in.ts';
import type { SpooledStrings } from '../../body/spooled-strings.ts';

export interface TurnText {
  /**
   * The text itself, or the one that the stand-in represents. Throws `unprocessable`, or `too_large` when all texts of the
   * turn together have too many bytes.
   */
  read(text: string, path: string): Promise<string>;
}

/** Makes the reader of one turn's texts. `maxBytes`: of all of them, in UTF-8. */
export function makeTurnText(spooled: SpooledStrings, maxBytes: number): TurnText {
  let left = maxBytes;

  function take(text: string, path: string): void {
    left -= Buffer.byteLength(text);
    if (left >= 0) return;
    const message = `${path}: the text of a turn must be at most ${maxBytes / MB} MB`;
    throw new ErrandError('too_large', message, { details: { field: path } });
  }

  return {
    read: async (text, path) => {
      const found = spooled.find(text);
      if (found === undefined) {
        requireNoStandIn(text, path);
        take(text, path);
        return text;
      }
      let whole = '';
      for await (const piece of found.pieces()) {
        take(piece, path);
        whole += piece;
      }
      return string.read(whole, path);
    },
  };
}
