// An earlier zip of the same workspace: most of its entries are as the next one needs them, packed.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { blobPath } from '../blobs/blob-place.ts';
import type { Pace } from '../snapshots/pace.ts';
import type { ZipEntry } from './zip-format.ts';

/** An entry, the hash of its content, and where its last byte is followed by the next one's first. */
export interface PackedEntry extends ZipEntry {
  readonly sha256: string;
  readonly end: number;
}

export interface EarlierZip {
  /** The entry of this name, if it has this content. */
  find(name: string, sha256: string): PackedEntry | undefined;
  /** Writes an entry with its header, as it is. */
  copy(entry: PackedEntry, write: (bytes: Buffer) => void): void;
  close(): void;
}

const VERSION = 1;
const CHUNK_BYTES = 1_048_576;
/** Archives with fewer files and bytes are packed as fast as they are copied. */
const [MIN_FILES, MIN_BYTES] = [64, 1_048_576];

/**
 * Opens what `keepZip` has noted. Undefined without a note, and when the archive is gone or isn't byte for byte what it was: all
 * is packed from the blobs then. Throws errors of `pace`.
 */
export async function openEarlierZip(path: string, blobs: string, pace: Pace): Promise<EarlierZip | undefined> {
  const note = readNote(path);
  if (note === undefined) return undefined;
  const file = openIfThere(blobPath(blobs, note.key));
  if (file === undefined) return undefined;
  let isWhole = false;
  try {
    isWhole = (await hashOf(file, pace)) === note.key;
  } finally {
    if (!isWhole) closeSync(file);
  }
  if (!isWhole) return undefined;
  const entries = new Map(note.entries.map((entry) => [entry.name, entry]));
  return {
    find: (name, sha256) => {
      const entry = entries.get(name);
      return entry?.sha256 === sha256 ? entry : undefined;
    },
    copy: ({ offset, end }, write) => {
      for (let at = offset; at < end; ) {
        const bytes = readAt(file, at, end);
        if (bytes.length === 0) throw new Error('An archive became shorter while it was read.');
        write(bytes);
        at += bytes.length;
      }
    },
    close: () => closeSync(file),
  };
}

/** Notes what is where in an archive. Not synced: it may be lost at any time. */
export function keepZip(path: string, key: string, entries: readonly PackedEntry[]): void {
  if (entries.length < MIN_FILES && (entries.at(-1)?.end ?? 0) < MIN_BYTES) return;
  try {
    writeFileSync(`${path}.new`, JSON.stringify({ version: VERSION, key, entries }), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    for (const unfinished of [path, `${path}.new`]) rmSync(unfinished, { force: true });
  }
}

interface Note {
  readonly version: number;
  readonly key: string;
  readonly entries: readonly PackedEntry[];
}

function readNote(path: string): Note | undefined {
  try {
    const note = JSON.parse(readFileSync(path, 'utf8')) as Note;
    return note.version === VERSION ? note : undefined;
  } catch {
    return undefined;
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

async function hashOf(file: number, pace: Pace): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; ; ) {
    await pace.rest();
    const bytes = readAt(file, at, Infinity);
    if (bytes.length === 0) return hash.digest('hex');
    hash.update(bytes);
    at += bytes.length;
  }
}

function readAt(file: number, at: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - at));
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
}
