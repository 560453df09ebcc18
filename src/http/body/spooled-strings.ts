// The long strings of a body: stored in a file as they arrived, with a stand-in for each in the parsed text.
import { randomUUID } from 'node:crypto';
import { ErrandError } from '../../domain/errors.ts';
import type { Pause } from '../../domain/loop/slices.ts';
import type { OpenSpool, Spool } from '../../files/blobs/spool.ts';
import { STAND_IN } from '../../wire/shapes/stand-in.ts';

/** A string that is stored in a file. */
export interface SpooledString {
  /** Its characters, in chunks, any number of times, until the body is released. There is a pause after each chunk. */
  pieces(): AsyncGenerator<string>;
}

/** The long strings of one body. */
export interface SpooledStrings {
  /** The string that a stand-in represents; undefined for any other text. */
  find(text: string): SpooledString | undefined;
}

/** The strings of a body that has no long ones. */
export const NO_SPOOLED_STRINGS: SpooledStrings = { find: () => undefined };

interface ByteRange {
  readonly start: number;
  end: number;
}

/** The side that stores strings. At most one is open at a time. */
export interface StringSpooler extends SpooledStrings {
  /** Writes a part of a string as it is in the JSON text. */
  append(bytes: Uint8Array): Promise<void>;
  /** Ends the string, and returns its stand-in, without quotes. */
  end(): Buffer;
  close(): Promise<void>;
}

/**
 * Makes the store of one body's strings. Its file is opened with the first string. Throws `unavailable` when the disk refuses
 * to write.
 */
export function makeStringSpooler(openSpool: OpenSpool, pause: Pause): StringSpooler {
  // Secret: no client can write a stand-in.
  const secret = randomUUID();
  const ranges: ByteRange[] = [];
  let spool: Spool | undefined;
  let written = 0;
  let current: ByteRange | undefined;

  return {
    find: (text) => {
      const [prefix, index] = [`${STAND_IN}${secret}:`, text.slice(STAND_IN.length + secret.length + 1)];
      const range = text.startsWith(prefix) ? ranges[Number(index)] : undefined;
      return range && { pieces: () => charactersOf(spool!.read(range.start, range.end), pause) };
    },
    append: async (bytes) => {
      try {
        spool ??= await openSpool();
        await spool.append(bytes);
      } catch (cause) {
        throw new ErrandError('unavailable', "The daemon's storage refuses to write.", { cause });
      }
      current ??= { start: written, end: written };
      written += bytes.length;
      current.end = written;
    },
    end: () => {
      ranges.push(current!);
      current = undefined;
      return Buffer.from(`\\u0000${STAND_IN.slice(1)}${secret}:${ranges.length - 1}`);
    },
    close: async () => {
      const open = spool;
      spool = undefined;
      await open?.close();
    },
  };
}

/** The characters that the inside of a JSON string represents. It is well-formed: it was scanned when it arrived. */
async function* charactersOf(pieces: AsyncIterable<Uint8Array>, pause: Pause): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let kept = '';
  for await (const bytes of pieces) {
    const text = kept + decoder.decode(bytes, { stream: true });
    const cut = endOfWholeEscapes(text);
    const whole = text.slice(0, cut);
    kept = text.slice(cut);
    yield whole.includes('\\') ? (JSON.parse(`"${whole}"`) as string) : whole;
    await pause();
  }
}

function endOfWholeEscapes(text: string): number {
  for (let at = text.indexOf('\\'); at !== -1; ) {
    const end = at + (text[at + 1] === 'u' ? 6 : 2);
    if (end > text.length) return at;
    at = text.indexOf('\\', end);
  }
  return text.length;
}
