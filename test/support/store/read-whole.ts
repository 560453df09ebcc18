// What verbs read in portions, whole.
import { type Portions, rowsOf } from '../../../src/domain/portions.ts';
import type { FileVersion } from '../../../src/domain/sessions/artifact.ts';
import { historyOf } from '../../../src/operations/sessions/history.ts';
import type { FoundWorkspace } from '../../../src/store/artifacts/conclude-collected.ts';
import type { Store } from '../../../src/store/open-store.ts';
import type { MessageOfRun } from '../../../src/store/sessions/history.ts';

/** Rows as a list of one portion. */
export async function* inOnePortion<T>(rows: readonly T[]): Portions<T> {
  yield { bytes: 1, read: async () => rows };
}

/** The history of a session, in which no run is long. */
export async function messagesOf(store: Pick<Store, 'history'>, sessionSeq: number): Promise<MessageOfRun[]> {
  const messages = await Array.fromAsync(rowsOf(historyOf(store.history, sessionSeq)));
  return messages as MessageOfRun[];
}

type Artifacts = Pick<
  Store['artifacts'],
  'getRunArtifacts' | 'listRunFiles' | 'getWorkspaceExport' | 'listWorkspaceFiles'
>;

/** What a run has produced, with its files. */
export async function runArtifactsOf(artifacts: Artifacts, runSeq: number) {
  const files = await artifacts.listRunFiles(runSeq, '', 1_000_000);
  return { ...(await artifacts.getRunArtifacts(runSeq)), files };
}

/** A workspace's export, with the files. */
export async function workspaceOf(artifacts: Artifacts, sessionSeq: number) {
  const files: FileVersion[] = await artifacts.listWorkspaceFiles(sessionSeq, '', 1_000_000);
  return { ...(await artifacts.getWorkspaceExport(sessionSeq)), files };
}

/** Records all files that a workspace has after a run, as what differs from those that are recorded. */
export async function recordWhole(
  artifacts: Pick<Store['artifacts'], 'listWorkspaceFiles' | 'recordArtifacts'>,
  { seq, sessionSeq }: { readonly seq: number; readonly sessionSeq: number },
  { files, ...rest }: Omit<FoundWorkspace, 'gone'>,
) {
  const there = new Set(files.map(({ path }) => path));
  const before = await artifacts.listWorkspaceFiles(sessionSeq, '', 1_000_000);
  const gone = before.map(({ path }) => path).filter((path) => !there.has(path));
  return artifacts.recordArtifacts(seq, { files, gone, ...rest });
}
