// A spool: bytes that are only needed for a moment, and too many to be held in memory.
import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

const READ_BYTES = 65_536;

/** A file without a name: whatever becomes of the daemon, nothing of it stays. */
export interface Spool {
  /** Writes some bytes at the end. */
  append(bytes: Uint8Array): Promise<void>;
  /** The bytes from `start` up to but without `end`, piece by piece. A piece is good until the next one is asked for. */
  read(start: number, end: number): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

export type OpenSpool = () => Promise<Spool>;

/** Makes spools in a directory that is there. */
export function makeOpenSpool(directory: string): OpenSpool {
  return async () => {
    const path = join(directory, randomUUID());
    const file = await open(path, 'wx+', 0o600);
    try {
      await rm(path);
    } catch (error) {
      await file.close();
      throw error;
    }
    return {
      append: (bytes) => file.writeFile(bytes),
      read: async function* read(start, end) {
        const piece = Buffer.allocUnsafe(Math.min(READ_BYTES, end - start));
        for (let at = start; at < end; ) {
          const { bytesRead } = await file.read(piece, 0, Math.min(piece.length, end - at), at);
          if (bytesRead === 0) throw new Error('A spool ended before what was written to it.');
          yield piece.subarray(0, bytesRead);
          at += bytesRead;
        }
      },
      close: () => file.close(),
    };
  };
}
