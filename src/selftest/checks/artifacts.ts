// Compares what is stored of runs' files with the files themselves: every archive and blob is complete, nothing is left
// pending.
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { list, type ReadEntry } from 'tar';
import { type EndedRun, makeReadStored, type Places } from './stored-blobs.ts';

interface FileRow {
  readonly seq: number;
  readonly path: string;
  readonly sha256: string;
}

interface WorkspaceFileRow extends FileRow {
  readonly id: string;
  /** That has the workspace. */
  readonly node: string | null;
}

interface StatusRow extends EndedRun {
  readonly artifact_status: string;
  readonly status: string;
}

interface ArtifactRow {
  readonly run_seq: number;
  readonly artifact_status: string;
  readonly archive_key: string | null;
  readonly file_count: number;
}

const LIVING = 's.deleted_at IS NULL';

/** How many runs and workspaces remain to be collected or packed; works while the daemon writes. */
export function countUncollected(file: string): number {
  const connection = new Connection(file, { readonly: true, timeout: 5_000 });
  try {
    const count = (sql: string) => connection.prepare(sql).pluck().get() as number;
    return (
      count(`SELECT count(*) FROM runs r JOIN sessions s ON s.seq = r.session_seq
             WHERE r.artifact_status = 'pending' AND r.finished_at IS NOT NULL AND ${LIVING}`) +
      count(`SELECT count(*) FROM workspace_exports e JOIN sessions s ON s.seq = e.session_seq
             WHERE e.status = 'pending' AND ${LIVING}`)
    );
  } finally {
    connection.close();
  }
}

/** Checks what no daemon writes to; `checked`: archives, blobs and files of workspaces. */
export async function checkArtifacts(
  places: Places,
  databaseFile: string,
): Promise<{ readonly checked: number; readonly problems: readonly string[] }> {
  const connection = new Connection(databaseFile, { readonly: true });
  try {
    const read = makeReadStored(connection, places);
    const all = <Row>(sql: string) => connection.prepare(sql).all() as Row[];
    const artifacts = all<ArtifactRow>(
      `SELECT a.run_seq, r.artifact_status, a.archive_key, a.file_count FROM run_artifacts a
       JOIN runs r ON r.seq = a.run_seq JOIN sessions s ON s.seq = r.session_seq WHERE ${LIVING}`,
    );
    const ofRuns = all<FileRow>(
      `SELECT f.run_seq AS seq, f.path, f.sha256 FROM run_artifact_files f JOIN runs r ON r.seq = f.run_seq
       JOIN sessions s ON s.seq = r.session_seq WHERE ${LIVING}`,
    );
    const ofSessions = all<WorkspaceFileRow>(
      `SELECT f.session_seq AS seq, s.id, s.workspace_node AS node, f.path, f.sha256 FROM workspace_files f
       JOIN sessions s ON s.seq = f.session_seq WHERE ${LIVING}`,
    );
    const earlier = all<Pick<FileRow, 'sha256'>>(
      `SELECT f.sha256 FROM earlier_files f JOIN sessions s ON s.seq = f.session_seq WHERE ${LIVING}`,
    );
    const statuses = all<StatusRow>(
      `SELECT r.seq, r.artifact_status, r.status, r.node_id, r.finished_at FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE ${LIVING}`,
    );
    const byRun = Map.groupBy(ofRuns, ({ seq }) => seq);
    const blobs = new Set([...ofRuns, ...ofSessions, ...earlier].map(({ sha256 }) => sha256));
    const checks = [
      ...artifacts.map((artifact) => () => checkArchive(read, artifact, byRun.get(artifact.run_seq) ?? [])),
      ...[...blobs].map((key) => async () => checkBlob(read, key)),
      ...ofSessions.map((file) => () => checkWorkspace(places, file)),
      ...places.dataDirs.map((dataDir) => () => checkSnapshots(dataDir)),
    ];
    const problems = statuses.flatMap((run) => checkStatus(places, run));
    // One after another: their number is that of all files, and each is read as a whole.
    for (const check of checks) problems.push(...(await check()));
    return { checked: checks.length, problems };
  } finally {
    connection.close();
  }
}

function checkStatus({ mayLose }: Places, run: StatusRow): string[] {
  const right = run.status === 'completed' || run.status === 'incomplete' ? 'ready' : 'failed';
  return run.artifact_status === right || (run.artifact_status === 'failed' && mayLose(run))
    ? []
    : [`run ${run.seq} is ${run.status}, its artifacts are ${run.artifact_status}`];
}

type ReadStored = ReturnType<typeof makeReadStored>;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function checkBlob(read: ReadStored, key: string): string[] {
  const bytes = read(key);
  if (bytes === null) return [`the blob ${key} is gone`];
  return sha256(bytes) === key ? [] : [`the blob ${key} is damaged`];
}

/** The archive contains exactly the listed files, unless it has still to be asked for. */
async function checkArchive(read: ReadStored, artifact: ArtifactRow, files: readonly FileRow[]): Promise<string[]> {
  const { run_seq, archive_key, file_count } = artifact;
  const problems =
    file_count === files.length ? [] : [`run ${run_seq} has ${files.length} files, and says ${file_count}`];
  if (artifact.artifact_status !== 'ready' || file_count === 0) return problems;
  // Nobody has asked for it yet.
  if (archive_key === null) return problems;
  const bytes = read(archive_key);
  if (bytes === null) return [...problems, `the archive of run ${run_seq} is gone`];
  const packed = new Map<string, string>();
  const reading = list({
    strict: true,
    onReadEntry: (entry: ReadEntry) => {
      const hash = createHash('sha256');
      entry.on('data', (chunk: Buffer) => hash.update(chunk));
      entry.on('end', () => void packed.set(`/${entry.path}`, hash.digest('hex')));
    },
  });
  await new Promise<void>((resolve, reject) => {
    reading.once('end', resolve);
    reading.once('error', reject);
    reading.end(bytes);
  });
  const listed = files.map(({ path, sha256 }) => `${path} ${sha256}`).toSorted();
  const found = Array.from(packed, ([path, hash]) => `${path} ${hash}`).toSorted();
  return listed.join() === found.join() ? problems : [...problems, `the archive of run ${run_seq} holds other files`];
}

/** Nothing has changed a workspace since its last run was collected. */
async function checkWorkspace(
  { workspacesOf }: Places,
  { id, node, path, sha256: known }: WorkspaceFileRow,
): Promise<string[]> {
  const bytes = await readFile(join(workspacesOf(node), 'workspaces', id, path)).catch(() => null);
  if (bytes === null) return [`${path} of session ${id} is listed and not there`];
  return sha256(bytes) === known ? [] : [`${path} of session ${id} is not what is listed`];
}

async function checkSnapshots(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'snapshots')).catch(() => []);
  return names.filter((name) => /tmp|new$/.test(name)).map((name) => `half-written snapshot left: ${name}`);
}
