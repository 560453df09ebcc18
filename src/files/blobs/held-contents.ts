// The bytes of small blobs that a holder has and no row yet: in memory, or in a scratch file where they are many.
import { hash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { ContentSource } from '../../domain/sessions/contents.ts';

/** Bytes of several blobs one after another: themselves, or the path of a file. */
export interface Portion {
  readonly bytes: Uint8Array | string;
  readonly places: readonly BlobPlace[];
}

export interface BlobPlace {
  readonly key: string;
  /** Where its bytes begin. */
  readonly at: number;
  readonly size: number;
}

export interface HeldContents extends ContentSource {
  add(portion: Portion): void;
  /** Bytes in memory. */
  readonly held: number;
  /** Forgets all, and removes the files. */
  release(): void;
}

export function makeHeldContents(): HeldContents {
  const known = new Map<string, Buffer>();
  const inFiles = new Map<string, BlobPlace & { readonly path: string }>();
  const files = new Set<string>();
  let held = 0;

  function addKnown(key: string, bytes: Buffer): void {
    if (!known.has(key)) held += bytes.length;
    known.set(key, bytes);
  }

  return {
    add: ({ bytes, places }) => {
      for (const place of places) {
        const { key, at, size } = place;
        if (typeof bytes === 'string') inFiles.set(key, { ...place, path: bytes });
        else addKnown(key, Buffer.from(bytes.buffer, bytes.byteOffset + at, size));
      }
      if (typeof bytes === 'string') files.add(bytes);
    },
    has: (key) => known.has(key) || inFiles.has(key),
    read: async (keys) => {
      const found = new Map<string, Buffer>();
      const rest = new Map<string, BlobPlace[]>();
      for (const key of new Set(keys)) {
        const [bytes, place] = [known.get(key), inFiles.get(key)];
        if (bytes !== undefined) found.set(key, bytes);
        else if (place !== undefined) rest.set(place.path, [...(rest.get(place.path) ?? []), place]);
      }
      for (const [path, places] of rest) await readInto(found, path, places);
      return found;
    },
    get held() {
      return held;
    },
    release: () => {
      known.clear();
      inFiles.clear();
      held = 0;
      // What stays behind goes with the next start.
      for (const path of files) void rm(path, { force: true }).catch(() => undefined);
    },
  };
}

async function readInto(found: Map<string, Buffer>, path: string, places: readonly BlobPlace[]): Promise<void> {
  await using file = await open(path, 'r');
  for (const { key, at, size } of places) {
    const bytes = Buffer.allocUnsafeSlow(size);
    const { bytesRead } = await file.read(bytes, 0, size, at);
    // The file of another attempt may have others there.
    if (bytesRead !== size || hash('sha256', bytes) !== key)
      throw new Error('The bytes of a small blob are not whole.');
    found.set(key, bytes);
  }
}
