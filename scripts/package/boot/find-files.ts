// Finds the unpacked files of the executable in the first place that has them as they were packed, or unpacks them there.
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { check } from './check.ts';
import type { Contents } from './contents.ts';
import { distrust, makePrivate } from './trusted.ts';

export type Found =
  | { readonly kind: 'found' | 'unpacked'; readonly directory: string }
  /** Why each place was no use, in a line. */
  | { readonly kind: 'none'; readonly reasons: readonly string[] };

/** Tries the places in order. Safe with other processes that do the same, and after a crash at any moment. */
export function findFiles(contents: Contents, locations: readonly string[], uid = process.getuid!()): Found {
  const reasons: string[] = [];
  for (const place of locations) {
    try {
      makePrivate(place);
      const reason = distrust(place, uid);
      if (reason === undefined) return inPlace(contents, place);
      reasons.push(`  ${place}: ${reason}`);
    } catch (error) {
      reasons.push(`  ${place}: ${(error as Error).message}`);
    }
  }
  return { kind: 'none', reasons };
}

function inPlace(contents: Contents, place: string): Found {
  const directory = path.join(place, contents.id);
  if (check(contents.files, directory)) {
    requireLoadable(contents, directory);
    const now = new Date();
    utimesSync(directory, now, now);
    return { kind: 'found', directory };
  }
  const work = mkdtempSync(path.join(place, '.new-'));
  try {
    write(contents, work);
    requireLoadable(contents, work);
    moveInto(contents, work, directory);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return { kind: 'unpacked', directory };
}

function write({ files, unpack }: Contents, work: string): void {
  const bytes = unpack();
  let start = 0;
  for (const file of files) {
    const target = path.join(work, file.path);
    mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(target, bytes.subarray(start, (start += file.bytes)), { mode: file.mode });
    chmodSync(target, file.mode);
  }
}

/** Throws where addons can't be loaded: a file system that is mounted `noexec` denies the permission to execute. */
function requireLoadable({ files }: Contents, directory: string): void {
  const addon = files.find((file) => file.path.endsWith('.node'));
  if (addon === undefined) return;
  try {
    accessSync(path.join(directory, addon.path), constants.X_OK);
  } catch {
    throw new Error('its file system is mounted noexec');
  }
}

/** Another process may have put them there in the meantime; what is there and altered makes way. */
function moveInto({ files }: Contents, work: string, directory: string): void {
  try {
    renameSync(work, directory);
    return;
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  if (check(files, directory)) return;
  const altered = mkdtempSync(path.join(path.dirname(directory), '.old-'));
  renameSync(directory, path.join(altered, 'files'));
  renameSync(work, directory);
  rmSync(altered, { recursive: true, force: true });
}
