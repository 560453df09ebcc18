// What a version would hold: the files of a session's workspace that belong to an entry, as its last run left them (F11).
import { MB } from '../../domain/byte-units.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import {
  arePathsTooLong,
  ENTRY_FAULTS,
  excludedPartOf,
  folderOf,
  overLimit,
  type VersionLimits,
} from '../../domain/publishing/manifest.ts';
import type { ShareType } from '../../domain/publishing/page.ts';
import { shareTypeOf } from '../../domain/publishing/share-type.ts';
import { isSessionUncollected } from '../artifacts/artifact-queue.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';

/** Where a version comes from. */
export interface VersionSource {
  readonly sessionSeq: number;
  readonly entryPath: string;
}

/** A version that can be made. */
export interface VersionPlan extends VersionSource {
  readonly kind: 'planned';
  readonly userSeq: number;
  readonly shareType: ShareType;
  readonly files: readonly FileVersion[];
  readonly totalSize: number;
}

/** `refused`: `mustBe` says what is wrong with the entry. `uncollected`: the files of an ended run are not known yet. */
export type PlannedVersion =
  | VersionPlan
  | { readonly kind: 'refused'; readonly mustBe: string }
  | { readonly kind: 'uncollected' }
  | { readonly kind: 'session_gone' };

const BATCH = 500;
/** Where files begin: at a path, or behind it. What follows a path can't be named: on PostgreSQL, U+0000 is not the smallest character. */
interface Start {
  readonly path: string;
  readonly is: '>' | '>=';
}

/** In the order of the paths, before one. */
const filesFrom = ({ is }: Start) => `SELECT path, size, sha256 FROM workspace_files
  WHERE session_seq = ? AND path ${is} ? AND path < ? ORDER BY path LIMIT ?`;
/** The character after `/`: the end of a folder. */
const AFTER_SLASH = '0';

/** The verb. Whoever copies the files holds all blobs meanwhile, and theirs from then on. */
export function makePlanVersion({ read }: Database) {
  return read(
    (tx: Reader, source: VersionSource, limits: VersionLimits): Step<PlannedVersion> => planIn(tx, source, limits),
  );
}

function* planIn(tx: Reader, source: VersionSource, limits: VersionLimits): Step<PlannedVersion> {
  const { sessionSeq, entryPath } = source;
  const owner = 'SELECT user_seq FROM sessions WHERE seq = ? AND deleted_at IS NULL';
  const session = yield* tx.get<{ userSeq: number }>(owner, sessionSeq);
  if (session === undefined) return { kind: 'session_gone' };
  if (yield* isSessionUncollected(tx, sessionSeq)) return { kind: 'uncollected' };
  const exact = 'SELECT path, size, sha256 FROM workspace_files WHERE session_seq = ? AND path = ?';
  const entry = yield* tx.get<FileVersion>(exact, sessionSeq, entryPath);
  if (entry === undefined) return { kind: 'refused', mustBe: ENTRY_FAULTS[yield* whatIsAt(tx, source)] };
  if (excludedPartOf(entryPath, entryPath) !== null) return { kind: 'refused', mustBe: ENTRY_FAULTS.hidden };
  const shareType = shareTypeOf(entryPath);
  const files = shareType === 'page' ? yield* filesBeside(tx, source, limits.maxFiles) : [entry];
  if (files.length > limits.maxFiles) return { kind: 'refused', mustBe: overLimit('files', limits) };
  if (arePathsTooLong(files.map(({ path }) => path))) return { kind: 'refused', mustBe: ENTRY_FAULTS.longPaths };
  const totalSize = files.reduce((sum, { size }) => sum + size, 0);
  if (totalSize > limits.maxTotalMb * MB) return { kind: 'refused', mustBe: overLimit('megabytes', limits) };
  return { kind: 'planned', ...source, ...session, shareType, files, totalSize };
}

/** Folders are not recorded: there is one where a file is below it. */
function* whatIsAt(tx: Reader, { sessionSeq, entryPath }: VersionSource): Step<'folder' | 'missing'> {
  const folder = entryPath.replace(/\/*$/, '');
  const inside: Start = { path: `${folder}/`, is: '>' };
  const [below] = yield* tx.all(filesFrom(inside), sessionSeq, inside.path, `${folder}${AFTER_SLASH}`, 1);
  return below === undefined ? 'missing' : 'folder';
}

/** The entry's folder and all below it, up to one file more than are allowed. What is left out is passed over, not read. */
function* filesBeside(tx: Reader, { sessionSeq, entryPath }: VersionSource, max: number): Step<FileVersion[]> {
  const folder = folderOf(entryPath);
  const end = `${folder.slice(0, -1)}${AFTER_SLASH}`;
  const files: FileVersion[] = [];
  let from: Start | null = { path: folder, is: '>' };
  while (from !== null && files.length <= max) {
    const batch: FileVersion[] = yield* tx.all<FileVersion>(filesFrom(from), sessionSeq, from.path, end, BATCH);
    files.push(...batch.filter(({ path }) => excludedPartOf(path, entryPath) === null));
    const last = batch.at(-1)?.path;
    from = last === undefined || batch.length < BATCH ? null : after(last, entryPath);
  }
  return files;
}

/** Where to read on after a path: after all of a folder that is left out. */
function after(path: string, entryPath: string): Start {
  const excluded = excludedPartOf(path, entryPath);
  if (excluded === null || excluded === path) return { path, is: '>' };
  return { path: `${excluded}${AFTER_SLASH}`, is: '>=' };
}
