// A spool: bytes that are needed only briefly, and too many for memory.
import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

const READ_BYTES = 65_536;

/** A file without a name: however the daemon ends, nothing remains of it. */
export interface Spool {
  /** Appends some bytes. */
  append(bytes: Uint8Array): Promise<void>;
  /** The bytes from `start` up to but not including `end`, in chunks. A chunk is valid until the next one is requested. */
  read(start: number, end: number): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

export type OpenSpool = () => Promise<Spool>;

/** Makes spools in an existing directory. */
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
