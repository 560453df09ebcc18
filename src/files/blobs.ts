// Blobs: bytes kept under the SHA-256 of their content, each content once.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The seam to the place where bytes live (design: only `Database` and `BlobStore` have twins). */
export interface BlobStore {
  /** Keeps some bytes durably and answers their key: lower-case hex SHA-256. */
  put(bytes: Uint8Array): Promise<string>;
  /** The bytes of a blob. Rejects when there is none of that key. */
  read(key: string): Promise<Buffer>;
}

/** Opens the blob store below a directory, and removes what a crash left half-written. */
export async function openBlobStore(directory: string): Promise<BlobStore> {
  const incoming = join(directory, 'incoming');
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const pathOf = (key: string) => join(directory, key.slice(0, 2), key);
  return {
    put: async (bytes) => {
      const key = createHash('sha256').update(bytes).digest('hex');
      const path = pathOf(key);
      if (await exists(path)) return key;
      const temporary = join(incoming, randomUUID());
      try {
        await writeDurably(temporary, bytes);
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await rename(temporary, path);
        await syncDirectory(dirname(path));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      return key;
    },
    read: async (key) => readFile(pathOf(key)),
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(bytes);
  await file.sync();
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
