// Blobs: bytes kept under the SHA-256 of their content, each content once.
import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The seam to the place where bytes live (design: only `Database` and `BlobStore` have twins). */
export interface BlobStore {
  /** Begins to keep bytes that no row refers to yet: what a hold has named is not removed before it is released. */
  hold(): BlobHold;
  /** The bytes of a blob. Rejects when there is none of that key. */
  read(key: string): Promise<Buffer>;
  /** Removes a blob unless it is in use or held. Answers false when it is held, and so has to be asked for again. */
  removeUnless(key: string, isInUse: (key: string) => boolean): boolean;
}

export interface BlobHold {
  /** Keeps some bytes durably and answers their key: lower-case hex SHA-256. */
  put(bytes: Uint8Array): Promise<string>;
  /** Holds a blob that is there. */
  add(key: string): void;
  /** Lets go, and answers the keys that were held. */
  release(): readonly string[];
}

/** Opens the blob store below a directory, and removes what a crash left half-written. */
export async function openBlobStore(directory: string): Promise<BlobStore> {
  const incoming = join(directory, 'incoming');
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const pathOf = (key: string) => join(directory, key.slice(0, 2), key);
  const holds = new Set<ReadonlySet<string>>();

  async function keep(key: string, bytes: Uint8Array): Promise<void> {
    const path = pathOf(key);
    if (await exists(path)) return;
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
  }

  return {
    hold: () => {
      const held = new Set<string>();
      holds.add(held);
      return {
        put: async (bytes) => {
          const key = createHash('sha256').update(bytes).digest('hex');
          // Before it is looked for: from here on nobody may remove it.
          held.add(key);
          await keep(key, bytes);
          return key;
        },
        add: (key) => void held.add(key),
        release: () => {
          holds.delete(held);
          return [...held];
        },
      };
    },
    read: async (key) => readFile(pathOf(key)),
    // In one turn of the event loop: between a look and the removal nobody may begin to refer to it.
    removeUnless: (key, isInUse) => {
      if (Array.from(holds).some((held) => held.has(key))) return false;
      if (!isInUse(key)) rmSync(pathOf(key), { force: true });
      return true;
    },
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
