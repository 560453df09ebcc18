// Every version is there whole or not at all, whatever became of its session, and nothing is stored that nothing needs.
import { hash } from 'node:crypto';
import Connection from 'better-sqlite3';
import type { Places } from '../../../src/selftest/checks/stored-blobs.ts';
import { makeAccount } from '../clients/late.ts';
import type { Results } from '../clients/results.ts';
import { SITE_ENTRY } from '../model/plan.ts';
import { readFirings } from './schedules.ts';

export interface VersionRow {
  readonly seq: number;
  readonly key: string;
  /** Of its page. */
  readonly name: string;
  readonly no: number;
  readonly reason: string | null;
  readonly share_code: string;
  readonly session_seq: number;
  readonly session_deleted: number;
  readonly entry_path: string;
  readonly trigger_type: 'manual' | 'auto';
  readonly file_count: number;
  readonly total_size: number;
  readonly withdrawn_at: number | null;
  readonly has_files: number;
}

interface FileRow {
  readonly version_seq: number;
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

const SITE_FOLDER = '/site/';
/** Everything that refers to a blob. */
const REFERENCES = [
  'SELECT sha256 FROM publish_files',
  ...[
    'a.sha256 FROM attachments a JOIN messages x ON x.id = a.message_id',
    'f.sha256 FROM run_artifact_files f JOIN runs x ON x.seq = f.run_seq',
    'f.archive_key FROM run_artifacts f JOIN runs x ON x.seq = f.run_seq',
    'x.sha256 FROM workspace_files x',
    'x.sha256 FROM earlier_files x',
    'x.archive_key FROM workspace_exports x',
    'f.sha256 FROM screenshots f JOIN runs x ON x.seq = f.run_seq',
  ].map((from) => `SELECT ${from} JOIN sessions s ON s.seq = x.session_seq WHERE s.deleted_at IS NULL`),
];

const WAITING = `SELECT (SELECT count(*) FROM publish_jobs) + (SELECT count(*) FROM publish_removals)
  + (SELECT count(*) FROM publish_pages WHERE deleted_at IS NOT NULL)
  + (SELECT count(*) FROM publish_versions WHERE page_id IS NULL OR (withdrawn_at IS NOT NULL AND has_files = 1))`;

function inDatabase<T>(file: string, read: (connection: Connection.Database) => T): T {
  const connection = new Connection(file, { readonly: true, timeout: 5_000 });
  try {
    return read(connection);
  } finally {
    connection.close();
  }
}

/** How much is still to be published or removed; works while the daemon writes. */
export function countUnpublished(file: string): number {
  return inDatabase(file, (connection) => connection.prepare(WAITING).pluck().get() as number);
}

/** Versions in order. */
export function readVersions(file: string): VersionRow[] {
  return inDatabase(file, (connection) =>
    connection
      .prepare<[], VersionRow>(
        `SELECT v.*, p.key, p.name, s.deleted_at IS NOT NULL AS session_deleted FROM publish_versions v
         JOIN publish_pages p ON p.id = v.page_id JOIN sessions s ON s.seq = v.session_seq ORDER BY p.id, v.no`,
      )
      .all(),
  );
}

/** Returns every violation in words; checks what no daemon writes to. */
export function checkPublishing(results: Results, places: Places, file: string): string[] {
  const versions = readVersions(file);
  const files = Map.groupBy(
    inDatabase(file, (connection) => connection.prepare<[], FileRow>('SELECT * FROM publish_files').all()),
    ({ version_seq }) => version_seq,
  );
  const blobs = readBlobs(places, file);
  const known = new Set(versions.map(({ seq }) => seq));
  return [
    ...results.publishers.problems,
    ...versions.flatMap((version) =>
      checkVersion(version, files.get(version.seq) ?? [], blobs).map(
        (words) => `version ${version.no} of page ${version.key}: ${words}`,
      ),
    ),
    ...[...files.keys()].filter((seq) => !known.has(seq)).map((seq) => `version ${seq} is gone, its manifest is not`),
    ...checkNumbers(versions),
    ...checkKnown(results, versions),
    ...checkTaskPages(results, versions, file),
    ...checkContents(results, versions, files, file),
    ...checkOrphans(file, blobs),
  ];
}

interface Blob {
  readonly size: number;
  /** The hash of its content. */
  readonly sha256: string;
}

/** All blobs, by their keys: those that are rows, and the names of the others. */
function readBlobs({ listFiles, readFile }: Places, file: string): Map<string, Blob> {
  const blobs = new Map<string, Blob>();
  const rows = inDatabase(file, (connection) =>
    connection.prepare<[], { key: string; bytes: Buffer }>('SELECT key, bytes FROM small_blobs').all(),
  );
  for (const { key, bytes } of rows) blobs.set(key, { size: bytes.length, sha256: hash('sha256', bytes) });
  for (const name of listFiles()) {
    const bytes = readFile(name);
    if (bytes !== null) blobs.set(name, { size: bytes.length, sha256: hash('sha256', bytes) });
  }
  return blobs;
}

/** A withdrawn version has no files any more, any other has all. */
function checkVersion(version: VersionRow, files: readonly FileRow[], blobs: ReadonlyMap<string, Blob>): string[] {
  if (version.withdrawn_at !== null)
    return files.length === 0 && version.has_files === 0 ? [] : ['it was withdrawn, and its files are there'];
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return [
    ...(files.length === version.file_count ? [] : [`it has ${files.length} of ${version.file_count} files`]),
    ...(size === version.total_size ? [] : [`it has ${size} of ${version.total_size} bytes`]),
    ...(files.some(({ path }) => path === version.entry_path) ? [] : ['it has no entry']),
    ...files.flatMap(({ path, sha256, size }) => {
      const blob = blobs.get(sha256);
      if (blob === undefined) return [`the blob of ${path} is gone`];
      return blob.sha256 === sha256 && blob.size === size ? [] : [`the blob of ${path} is damaged`];
    }),
  ];
}

/** Without a gap, from 1. */
function checkNumbers(versions: readonly VersionRow[]): string[] {
  return [...Map.groupBy(versions, ({ key }) => key)].flatMap(([key, own]) =>
    own.every(({ no }, i) => no === i + 1) ? [] : [`page ${key} has the versions ${own.map(({ no }) => no).join()}`],
  );
}

interface Confirmed {
  readonly publishers: Pick<Results['publishers'], 'pages' | 'late'>;
  readonly taskPages: Results['taskPages'];
}

type KnownVersion = Pick<VersionRow, 'key' | 'name' | 'no' | 'reason' | 'share_code' | 'withdrawn_at'>;

/** What was confirmed is there, and nothing else but what a request may have made late. */
export function checkKnown({ publishers, taskPages }: Confirmed, versions: readonly KnownVersion[]): string[] {
  const byKey = Map.groupBy(versions, ({ key }) => key);
  const isLate = makeAccount(publishers.late);
  const problems = publishers.pages.flatMap(({ key, isDeleted, versions: seen, withdrawn }) => {
    const own = byKey.get(key) ?? [];
    byKey.delete(key);
    if (isDeleted) return own.length === 0 ? [] : [`page ${key} was deleted, and is there`];
    const stored = own
      .filter(({ no, reason }) => seen.has(no) || !isLate(reason))
      .map(({ no, share_code }) => `${no} ${share_code}`);
    const expected = Array.from(seen, ([no, code]) => `${no} ${code}`);
    const gone = own.filter(({ withdrawn_at }) => withdrawn_at !== null).map(({ no }) => no);
    return [
      ...(stored.toSorted().join() === expected.toSorted().join()
        ? []
        : [`page ${key} has ${stored.join()}, and ${expected.join()} were confirmed`]),
      ...(gone.join() === [...withdrawn].join() ? [] : [`page ${key}: ${gone.join()} are withdrawn`]),
    ];
  });
  for (const { key } of taskPages) byKey.delete(key);
  const unknown = [...byKey].filter(([, own]) => own.length !== 1 || !isLate(own[0]!.name));
  return [...problems, ...unknown.map(([key]) => `page ${key} is there, and nobody has made it`)];
}

/** A firing that completed, of a task with a page. */
export interface DueVersion {
  readonly key: string;
  readonly session_seq: number;
  /** Whether there must be a version; null when the session was deleted, maybe before it was published. */
  readonly isExpected: boolean | null;
}

/** A call that was interrupted may have left no entry: then nothing is published. */
export function readDueVersions({ taskPages }: Pick<Results, 'taskPages'>, file: string): DueVersion[] {
  const firings = readFirings(file).filter(({ status }) => status === 'completed');
  const workspaces = readWorkspaces(file);
  return taskPages.flatMap(({ key, taskId, entryPath }) =>
    firings
      .filter(({ task_id }) => task_id === taskId)
      .map(({ session_seq }) => {
        const paths = workspaces.get(session_seq);
        return { key, session_seq, isExpected: paths === undefined ? null : paths.has(entryPath) };
      }),
  );
}

/** The files of each session that isn't deleted, by path. */
function readWorkspaces(file: string): Map<number, Map<string, string>> {
  return inDatabase(file, (connection) => {
    const sessions = connection.prepare('SELECT seq FROM sessions WHERE deleted_at IS NULL').pluck().all() as number[];
    const workspaces = new Map(sessions.map((seq) => [seq, new Map<string, string>()]));
    const files = connection.prepare<[], { session_seq: number; path: string; sha256: string }>(
      'SELECT session_seq, path, sha256 FROM workspace_files',
    );
    for (const { session_seq, path, sha256 } of files.all()) workspaces.get(session_seq)?.set(path, sha256);
    return workspaces;
  });
}

/** One version for each firing that completed. */
function checkTaskPages(results: Results, versions: readonly VersionRow[], file: string): string[] {
  const due = readDueVersions(results, file);
  return results.taskPages.flatMap(({ key }) => {
    const own = versions.filter((version) => version.key === key).map(({ session_seq }) => session_seq);
    const [must, may] = [true, null].map((is) =>
      due.filter((one) => one.key === key && one.isExpected === is).map(({ session_seq }) => session_seq),
    ) as [number[], number[]];
    const surplus = own.filter((seq, i) => ![...must, ...may].includes(seq) || own.indexOf(seq) !== i);
    return [
      ...must.filter((seq) => !own.includes(seq)).map((seq) => `page ${key} has no version of session ${seq}`),
      ...surplus.map((seq) => `page ${key} has a version too many of session ${seq}`),
    ];
  });
}

/** A version has exactly the files of the entry's folder: after a firing has ended, they don't change any more. */
function checkContents(
  { publishers: { refused } }: Results,
  versions: readonly VersionRow[],
  files: ReadonlyMap<number, readonly FileRow[]>,
  file: string,
): string[] {
  const workspaces = readWorkspaces(file);
  const textOf = (all: readonly (readonly [string, string])[]) =>
    all
      .map(([path, sha256]) => `${path} ${sha256}`)
      .toSorted()
      .join('\n');
  const differing = versions.filter(({ seq, session_seq, withdrawn_at }) => {
    const workspace = workspaces.get(session_seq);
    if (workspace === undefined || withdrawn_at !== null) return false;
    const published = (files.get(seq) ?? []).map(({ path, sha256 }) => [path, sha256] as const);
    return textOf(published) !== textOf([...workspace].filter(([path]) => path.startsWith(SITE_FOLDER)));
  });
  const sessions = inDatabase(file, (connection) =>
    connection.prepare<[], { seq: number; id: string }>('SELECT seq, id FROM sessions').all(),
  );
  const wronged = sessions.filter(({ seq, id }) => refused.has(id) && workspaces.get(seq)?.has(SITE_ENTRY) === true);
  return [
    ...differing.map(({ key, no }) => `version ${no} of page ${key} differs from the workspace that it was made of`),
    ...wronged.map(({ id }) => `a page of session ${id} was refused, and its entry is there`),
  ];
}

/** How many rows have bytes that nothing refers to. */
export function countOrphanedRows(file: string): number {
  const sql = `SELECT count(*) FROM (SELECT key FROM small_blobs EXCEPT SELECT * FROM (${REFERENCES.join(' UNION ')}))`;
  return inDatabase(file, (connection) => connection.prepare(sql).pluck().get() as number);
}

function checkOrphans(file: string, blobs: ReadonlyMap<string, Blob>): string[] {
  const used = new Set(
    inDatabase(file, (connection) => connection.prepare(REFERENCES.join(' UNION ')).pluck().all() as string[]),
  );
  return [...blobs.keys()].filter((key) => !used.has(key)).map((key) => `nothing refers to the blob ${key}`);
}
