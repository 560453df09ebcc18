// A look at a session's workspace: how it differs from what the store has recorded of it.
import { PORTION_ROWS, portionsOf, rowsOf } from '../../../domain/portions.ts';
import type { FileVersion } from '../../../domain/sessions/artifact.ts';
import type { BlobHold } from '../../../files/blobs/blobs.ts';
import type { Snapshot } from '../../../files/snapshots/snapshot.ts';
import type { Store } from '../../../store/open-store.ts';
import type { RecordedWorkspace } from '../../../store/artifacts/workspace-tree.ts';
import { type ArtifactParts, requestLimits } from '../artifact-parts.ts';

/** Whose workspace. */
export interface LookedAt {
  readonly sessionSeq: number;
  readonly sessionId: string;
}

export interface LookOptions {
  /** What it is compared with. */
  readonly recorded: RecordedWorkspace;
  /** Holds the blobs of the files that differ; null: they are not stored. */
  readonly hold: BlobHold | null;
  readonly signal: AbortSignal;
}

/** Looks at it. Nothing may record files of the session meanwhile. Rejects as the snapshot thread and the store do. */
export async function lookAt(
  { store, snapshotThread, workspaces, settings }: ArtifactParts,
  { sessionSeq, sessionId }: LookedAt,
  { recorded: { token, extras, hasFiles }, hold, signal }: LookOptions,
): Promise<Snapshot> {
  return snapshotThread.takeSnapshot({
    sessionId,
    root: workspaces.pathOf(sessionId),
    recorded: { token, extras, read: async () => (hasFiles ? recordedFiles(store, 'workspace', sessionSeq) : []) },
    hold,
    signal,
    ...requestLimits(settings()),
  });
}

/** Whether it is exactly what is recorded, so that nothing is lost with it. Rejects as `lookAt` does. */
export async function isRecorded(parts: ArtifactParts, session: LookedAt, signal: AbortSignal): Promise<boolean> {
  const recorded = await parts.store.artifacts.findWorkspace(session.sessionSeq);
  if (!recorded.hasFiles || recorded.token === null) return false;
  const { files, gone, extras, isComplete } = await lookAt(parts, session, { recorded, hold: null, signal });
  return files.length + gone.length === 0 && extras === undefined && isComplete;
}

/** The files of a workspace or of a run as they are recorded, read in portions. */
export function recordedFiles(
  { artifacts }: { readonly artifacts: Pick<Store['artifacts'], 'listWorkspaceFiles' | 'listRunFiles'> },
  kind: 'workspace' | 'run',
  seq: number,
): Promise<readonly FileVersion[]> {
  const list = kind === 'run' ? artifacts.listRunFiles : artifacts.listWorkspaceFiles;
  const next = (last: FileVersion | undefined) => list(seq, last?.path ?? '', PORTION_ROWS);
  return Array.fromAsync(rowsOf(portionsOf(next)));
}
