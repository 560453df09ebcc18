// A file that another thread is still writing, from its beginning to its end.
import { open } from 'node:fs/promises';
import { codeOf } from '../../domain/errors.ts';

export interface GrowingFile {
  /** Fills the beginning of `bytes` from `start` on, and returns how many there are yet. Also when the file was moved or removed. */
  read(bytes: Uint8Array, start: number): Promise<number>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** Null while there is no such file. */
export async function openGrowing(path: string): Promise<GrowingFile | null> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  return {
    read: async (bytes, start) => (await file.read(bytes, 0, bytes.length, start)).bytesRead,
    size: async () => (await file.stat()).size,
    close: async () => file.close(),
  };
}
