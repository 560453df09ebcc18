// The list of a backup's files, as lines of JSON in objects. A block ends where a line says so, rather than after a number of
// lines: the blocks of what is unchanged stay the same, and cost nothing in the next backup.
import { MB } from '../../domain/byte-units.ts';
import { ErrandError, messageOf } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import { readWhole } from '../../wire/shapes/composites.ts';
import { type ListedFile, listedFile } from '../../wire/backups/manifest.ts';
import { keyOf, type Sink } from './sink.ts';

const MAX_BLOCK_BYTES = MB;
/** A block has so many lines on average: a divisor of 256. */
const USUAL_LINES = 256;

export interface ListWriter {
  add(file: ListedFile): Promise<void>;
  /** Returns the objects that have the list. */
  end(): Promise<readonly string[]>;
}

export function makeListWriter(sink: Pick<Sink, 'put'>): ListWriter {
  const blocks: string[] = [];
  let lines: string[] = [];
  let bytes = 0;

  async function flush(): Promise<void> {
    if (lines.length === 0) return;
    blocks.push(await sink.put(Buffer.from(lines.join(''))));
    lines = [];
    bytes = 0;
  }

  return {
    add: async (file) => {
      const line = `${JSON.stringify(file)}\n`;
      lines.push(line);
      bytes += line.length;
      const isLast = Number.parseInt(keyOf(Buffer.from(file.path)).slice(0, 4), 16) % USUAL_LINES === 0;
      if (isLast || bytes >= MAX_BLOCK_BYTES) await flush();
    },
    end: async () => {
      await flush();
      return blocks;
    },
  };
}

/**
 * The files of a list, in order. `read` returns the bytes of an object. Throws `conflict` for what is no list, and for a block that
 * can't be read, unless `lost` takes it: then the list continues with the next one.
 */
export function* readList(
  blocks: readonly string[],
  read: (key: string) => Buffer,
  lost?: (key: string, error: ErrandError) => void,
): Generator<ListedFile> {
  for (const key of blocks) {
    const block = lost === undefined ? read(key) : readOrLose(key, read, lost);
    for (const line of block?.toString().split('\n') ?? []) if (line !== '') yield readLine(line);
  }
}

function readOrLose(key: string, read: (key: string) => Buffer, lost: (key: string, error: ErrandError) => void) {
  try {
    return read(key);
  } catch (error) {
    if (!(error instanceof ErrandError) || error.reason !== 'conflict') throw error;
    lost(key, error);
    return null;
  }
}

function readLine(line: string): ListedFile {
  try {
    return readWhole(listedFile, JSON.parse(line) as JsonValue);
  } catch (error) {
    throw new ErrandError('conflict', `The list of files is damaged: ${messageOf(error)}`);
  }
}
