// Verifies a backup: every object against its hash, the database in a scratch directory, and each of its rows against the bytes.
import { mkdirSync } from 'node:fs';
import { createHash, hash } from 'node:crypto';
import { join } from 'node:path';
import { removeTree } from '../disk/remove-beneath.ts';
import { systemClock } from '../domain/clock.ts';
import { wordsOfFault } from '../domain/people/audit-anchor.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import { type DatabaseCopy, type NamedBlob, openCopy } from '../store/copies/database-copy.ts';
import { openDatabase as openEngine } from '../store/engine/sqlite/open-database.ts';
import type { ListedFile, Manifest } from '../wire/backups/manifest.ts';
import { linkOf } from '../wire/people/audit-anchor.ts';
import { readList } from './repository/file-list.ts';
import { fullDisk, isFullDisk } from './repository/full-disk.ts';
import { type LeftOut, makeLeftOut, shownEntry } from './left-out.ts';
import { endsAs, isSealedWith, requireKnownSchema } from './repository/manifest.ts';
import type { Source } from './source.ts';
import { entriesOf } from './summary.ts';
import { isShared, entryPathOf } from './archive/entry-path.ts';
import { makeUnpacker, type Unpacker } from './archive/unpack.ts';

export interface VerifyRequest {
  readonly source: Source;
  readonly id: string;
  /** An empty folder. */
  readonly scratch: string;
  /** Null: the seal isn't verified. */
  readonly sealKey: Uint8Array | null;
  readonly onProgress: (bytes: number, manifest: Manifest) => void;
  readonly signal: AbortSignal;
}

export interface Verdict {
  readonly id: string;
  readonly files: number;
  readonly bytes: number;
  /** Whether the seal was verified: that takes the master key. */
  readonly isSealVerified: boolean;
  /** What is wrong, at most `MAX_FAULTS`; empty when nothing is. */
  readonly faults: readonly string[];
  /** What was left out when it was made. */
  readonly leftOut: LeftOut;
  /** What is as it was made, and a restore leaves out. */
  readonly unrestorable: LeftOut;
}

const MAX_FAULTS = 100;

/** Verifies all of a backup. Throws `not_found`, and `conflict` for one of a newer Errand, `unavailable` without space; what is wrong is in the verdict. */
export async function verify(request: VerifyRequest): Promise<Verdict> {
  const { source, id, sealKey } = request;
  const faults: string[] = [];
  const unrestorable = makeLeftOut();
  const found = { id, files: 0, bytes: 0, isSealVerified: sealKey !== null, faults, leftOut: NOTHING, unrestorable };
  let manifest: Manifest;
  try {
    manifest = source.manifest(id);
  } catch (error) {
    if (!isFault(error)) throw error;
    return { ...found, isSealVerified: false, faults: [messageOf(error)] };
  }
  requireKnownSchema(manifest);
  if (sealKey !== null && !isSealedWith(manifest, sealKey))
    faults.push('The manifest was sealed by another installation, or it was forged.');
  try {
    await verifyFiles(request, manifest, found);
  } catch (error) {
    if (isFullDisk(error))
      throw fullDisk(`There is no space left in ${request.scratch} for the database of the backup.`, messageOf(error));
    if (!isFault(error)) throw error;
    faults.push(messageOf(error));
  }
  const leftOut = { count: manifest.left_out, named: manifest.left_out_files ?? [] };
  return { ...found, leftOut, faults: faults.slice(0, MAX_FAULTS) };
}

type VerifiedFiles = { files: number; bytes: number; faults: string[]; unrestorable: ReturnType<typeof makeLeftOut> };

const NOTHING: LeftOut = { count: 0, named: [] };

/** The database comes first in the list, then the blobs by their keys: as its rows name them. */
async function verifyFiles(request: VerifyRequest, manifest: Manifest, found: VerifiedFiles): Promise<void> {
  const { source, scratch, onProgress, signal } = request;
  const target = { dataDir: join(scratch, 'data'), configDir: join(scratch, 'config'), owner: null };
  for (const directory of [target.dataDir, target.configDir]) mkdirSync(directory, { mode: 0o700 });
  // As a restore does it: names that can't be made there can't be made here.
  const unpacker = makeUnpacker(target, { read: source.read, keeps: false });
  let copy: DatabaseCopy | undefined;
  let rows: Rows | undefined;
  let [entries, hasDatabase] = [0, false];
  try {
    const lost = (key: string, error: ErrandError) =>
      void found.faults.push(`A part of the list of files is lost (object ${key}): ${error.message}`);
    for (const file of readList(manifest.list, source.read, lost)) {
      signal.throwIfAborted();
      if (found.faults.length >= MAX_FAULTS) return;
      if (file.kind === 'database') {
        hasDatabase = true;
        if (writeDatabase(unpacker, file, found.faults)) {
          copy = await openDatabase(join(target.dataDir, 'errand.db'), manifest, found.faults);
          rows = makeRows(copy, manifest, found.faults);
        }
      } else {
        entryPathOf(file);
        verifyFile(file, source, found.faults);
        if (file.kind === 'blob') rows?.compare(file);
        const why = isShared(file.kind) ? unpacker.write(file) : null;
        if (why !== null) found.unrestorable.add(file.path, why);
      }
      entries += 1;
      if (file.type === undefined) found.files += 1;
      found.bytes += file.size;
      onProgress(found.bytes, manifest);
    }
    if (!hasDatabase) found.faults.push('There is no database in the backup.');
    rows?.end();
    compareCounts(manifest, entries, found.faults);
  } finally {
    rows?.close();
    copy?.close();
    unpacker.close();
    for (const directory of [target.dataDir, target.configDir]) await removeTree(directory);
  }
}

/** Returns whether it is there. The files beside a damaged one are verified nevertheless. */
function writeDatabase(unpacker: Unpacker, file: ListedFile, faults: string[]): boolean {
  try {
    unpacker.write(file);
    return true;
  } catch (error) {
    if (!isFault(error)) throw error;
    faults.push(`${shownEntry(file)}: ${messageOf(error)}`);
    return false;
  }
}

/** Opened as a daemon would: an older schema is migrated. */
async function openDatabase(file: string, manifest: Manifest, faults: string[]): Promise<DatabaseCopy> {
  const before = openCopy(file);
  const { schemaVersion } = before;
  const end = before.auditEnd();
  before.close();
  if (schemaVersion !== manifest.schema_version) faults.push(`The database has schema version ${schemaVersion}.`);
  if (!endsAs(manifest, end)) faults.push('The audit log ends elsewhere than it did.');
  await openEngine(file, systemClock).close();
  const copy = openCopy(file);
  faults.push(...copy.faults(), ...faultOfAnchor(copy, manifest));
  return copy;
}

/** The anchor was read before the database was copied, so the log has to contain it. */
function faultOfAnchor(copy: DatabaseCopy, { audit_anchor: anchor }: Manifest): string[] {
  if (!anchor) return [];
  const fault = copy.auditFault(linkOf(anchor));
  return fault === null ? [] : [wordsOfFault(fault, linkOf(anchor))];
}

interface Rows {
  /** Compares the next blob of the list with what the rows name. */
  compare(file: ListedFile): void;
  end(): void;
  close(): void;
}

function makeRows(copy: DatabaseCopy, { bucket }: Manifest, faults: string[]): Rows {
  const named = copy.blobs();
  let next: IteratorResult<NamedBlob> = named.next();
  const verifyOwn = (blob: NamedBlob) => {
    // A bucket has it, which is no part of the backup.
    if (bucket !== undefined && blob.rowSize === null) return;
    const fault = faultOfUnlisted(copy, blob);
    if (fault !== null) faults.push(fault);
  };
  return {
    compare: ({ path, size }) => {
      while (next.done !== true && next.value.key < path) {
        verifyOwn(next.value);
        next = named.next();
      }
      if (next.done === true || next.value.key !== path) return;
      const said = next.value.size;
      if (said !== null && said !== size) faults.push(`The blob ${path} has ${size} bytes, and its row says ${said}.`);
      next = named.next();
    },
    end: () => {
      for (; next.done !== true && faults.length < MAX_FAULTS; next = named.next()) verifyOwn(next.value);
    },
    close: () => void named.return?.(),
  };
}

/** Null for a row of the database with the bytes that its key and the other rows say. */
function faultOfUnlisted(copy: DatabaseCopy, { key, size, rowSize }: NamedBlob): string | null {
  if (rowSize === null) return `The blob ${key} is missing, which the database names.`;
  if (size !== null && size !== rowSize) return `The blob ${key} has ${rowSize} bytes, and its row says ${size}.`;
  return hash('sha256', copy.bytesOf(key)) === key ? null : `The blob ${key} has other content.`;
}

function verifyFile(entry: ListedFile, source: Source, faults: string[]): void {
  const { kind, path, size, objects } = entry;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for (const key of objects) {
      const piece = source.read(key);
      hash.update(piece);
      bytes += piece.length;
    }
  } catch (error) {
    if (!isFault(error)) throw error;
    faults.push(`${shownEntry(entry)}: ${messageOf(error)}`);
    return;
  }
  if (bytes !== size) faults.push(`${shownEntry(entry)}: it has ${bytes} bytes, and the list says ${size}.`);
  if (kind === 'blob' && hash.digest('hex') !== path) faults.push(`The blob ${path} has other content.`);
}

function compareCounts(manifest: Manifest, entries: number, faults: string[]): void {
  const said = entriesOf(manifest);
  if (entries !== said) faults.push(`The list has ${entries} files, links and folders, and the manifest says ${said}.`);
}

/** What the backup is to blame for, rather than the machine. */
const isFault = (error: unknown) =>
  error instanceof ErrandError
    ? error.reason === 'conflict'
    : error instanceof Error &&
      error.name === 'SqliteError' &&
      /CORRUPT|NOTADB/.test(String((error as { code?: string }).code));
