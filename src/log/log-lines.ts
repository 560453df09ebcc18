// Lines of a log file: those that are there, and those that come, however the file is rotated.
import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MB } from '../domain/byte-units.ts';
import { codeOf } from '../domain/errors.ts';

/** How often the file is looked at for more. */
const LOOK_MS = 250;
const CHUNK_BYTES = 65_536;
/** A longer line is cut into pieces. */
const MAX_LINE_BYTES = MB;

/** A line without its end; `caughtUp` comes once, after the last line that was there. */
export type LogLine = { readonly line: string } | { readonly caughtUp: true };

export interface LineOptions {
  /** Whether to wait for more, until the signal aborts. */
  readonly follow: boolean;
  /** Only so many bytes at the end of what is there, from the first line that begins in them; all by default. */
  readonly lastBytes?: number;
  readonly signal: AbortSignal;
}

/**
 * Reads a file from its beginning, or the end of it. Follows it through a rotation: when it is renamed and begun again, the rest of the old file
 * comes first; when it is truncated, it is read from its beginning. Throws when it can't be opened at the start.
 */
export async function* logLines(file: string, { follow, lastBytes, signal }: LineOptions): AsyncGenerator<LogLine> {
  let handle = await open(file, 'r');
  try {
    let reader = makeReader(handle);
    if (lastBytes !== undefined) await reader.skipTo(lastBytes);
    yield* reader.more();
    yield { caughtUp: true };
    while (follow && !signal.aborted) {
      yield* reader.more();
      const next = await reopen(file, handle);
      if (next !== null) {
        // What was written between the last read and the rename.
        yield* reader.more();
        yield* reader.rest();
        await handle.close();
        handle = next;
        reader = makeReader(handle);
      } else await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
    yield* reader.rest();
  } finally {
    await handle.close();
  }
}

/** The file that now has this name, opened; null while it is the same, or there is none. */
async function reopen(file: string, current: FileHandle): Promise<FileHandle | null> {
  try {
    const [now, then] = await Promise.all([stat(file), current.stat()]);
    return now.ino === then.ino && now.dev === then.dev ? null : await open(file, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

interface Reader {
  /** Leaves out everything but so many bytes, and the line that begins before them. */
  skipTo(lastBytes: number): Promise<void>;
  /** The lines that have been completed since. */
  more(): AsyncGenerator<LogLine>;
  /** What the file ends with, if its last line has no end. */
  rest(): Generator<LogLine>;
}

function makeReader(handle: FileHandle): Reader {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let position = 0;
  let started: Buffer = Buffer.alloc(0);
  /** Whether the position is in a line that is left out. */
  let isWithin = false;

  async function chunk(): Promise<Buffer> {
    const { size } = await handle.stat();
    if (size < position) {
      position = 0;
      started = Buffer.alloc(0);
      isWithin = false;
    }
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position);
    position += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  function* rest(): Generator<LogLine> {
    if (started.length > 0) yield { line: started.toString() };
    started = Buffer.alloc(0);
  }

  return {
    skipTo: async (lastBytes) => {
      const { size } = await handle.stat();
      if (size <= lastBytes) return;
      // From the byte before: where that ends a line, the next one is whole.
      position = size - lastBytes - 1;
      isWithin = true;
    },
    more: async function* () {
      for (let read = await chunk(); read.length > 0; read = await chunk()) {
        const whole = Buffer.concat([started, read]);
        let from = 0;
        if (isWithin) {
          from = whole.indexOf(10) + 1;
          if (from === 0) continue;
          isWithin = false;
        }
        for (let end = whole.indexOf(10, from); end !== -1; end = whole.indexOf(10, from)) {
          yield { line: whole.toString('utf8', from, end) };
          from = end + 1;
        }
        started = whole.subarray(from);
        if (started.length > MAX_LINE_BYTES) yield* rest();
      }
    },
    rest,
  };
}
