// Lays the workspace of a run out here when another node has it, or when its directory was lost: from what is recorded of it (L5).
import { existsSync } from 'node:fs';
import { ownerFor } from '../../../agent/sandbox/users.ts';
import { READING_TOOLS } from '../../../agent/tools/tool-names.ts';
import { MB } from '../../../domain/byte-units.ts';
import { pause } from '../../../domain/clock.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { Halt } from '../../../domain/halt.ts';
import type { RunError } from '../../../domain/sessions/run.ts';
import { isNoSpace, mayBeStored } from '../../../files/blobs/no-space.ts';
import { isNoThread } from '../../../files/snapshots/send-request.ts';
import type { LaidOut } from '../../../files/snapshots/snapshot-requests.ts';
import type { ClaimedRun } from '../../../store/lifecycle/start-run.ts';
import { type ArtifactParts, requestLimits } from '../artifact-parts.ts';
import { recordedFiles } from './look.ts';

/**
 * `ready`: it is here, or the run was called off. `hasNotes`: agents of the session were told of one that was laid out anew. `fenced`: another attempt has the run. `away`: it can't be laid out now, but may be later.
 * `failed`: a part of it is lost for good.
 */
export type Prepared =
  | { readonly kind: 'ready'; readonly hasNotes: boolean }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'away'; readonly why: string }
  | { readonly kind: 'failed'; readonly error: RunError };

const CALLED_OFF: Prepared = { kind: 'ready', hasNotes: false };

type LaidRun = Pick<ClaimedRun, 'seq' | 'id' | 'sessionSeq' | 'sessionId' | 'userSeq' | 'attempt' | 'workspaceNode'>;

/** Storage may be away for long, and the run keeps a slot meanwhile: others may have what it needs. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 5_000;

/** Whether the workspace of a run isn't here. Where files are recorded, a missing directory was lost. */
export function isAway(
  { here, workspaces }: Pick<ArtifactParts, 'here' | 'workspaces'>,
  { sessionId, workspaceNode }: LaidRun,
  hasFiles: boolean,
): boolean {
  if (here !== null && workspaceNode !== here) return true;
  return hasFiles && !existsSync(workspaces.pathOf(sessionId));
}

/** Lays it out. Only while nobody works there: the run holds its session, and its agent has not begun. */
export async function layWorkspace(
  parts: ArtifactParts,
  run: LaidRun,
  { off, hasNotes }: { readonly off: Halt; readonly hasNotes: boolean },
): Promise<Prepared> {
  const { clock, log, here, store } = parts;
  const facts = { run_id: run.id, session_id: run.sessionId };
  const fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: run.attempt };
  const startedAt = clock.monotonic();
  for (;;) {
    try {
      if (!(await store.artifacts.recordLostUploads(fence))) return { kind: 'fenced' };
      const laid = await layRecorded(parts, run, off);
      if (off.isHalted) return CALLED_OFF;
      if (laid !== null && 'missing' in laid) return { kind: 'failed', error: lost(laid.missing) };
      const isNoted = await store.artifacts.moveWorkspace(fence, { here, reading: READING_TOOLS });
      if (isNoted === undefined) return { kind: 'fenced' };
      const tookMs = Math.round(clock.monotonic() - startedAt);
      if (laid !== null) log.info({ ...facts, ...laid, took_ms: tookMs }, 'the workspace of a session was laid out');
      return { kind: 'ready', hasNotes: hasNotes || isNoted };
    } catch (error) {
      if (off.isHalted) return CALLED_OFF;
      if (!mayBeStored(error) && !isNoThread(error)) throw error;
      log.warn({ ...facts, err: error }, 'the workspace of a session could not be laid out; will retry');
      if (clock.monotonic() - startedAt > PATIENCE_MS) return { kind: 'away', why: messageOf(error) };
    }
    await pause(clock, RETRY_MS, off.signal);
  }
}

/** Null when there is nothing to do: most sessions have no files. */
async function layRecorded(
  { store, workspaces, snapshotThread, blobs, settings, wantsRoom }: ArtifactParts,
  { sessionSeq, sessionId, userSeq }: LaidRun,
  off: Halt,
): Promise<LaidOut | { readonly missing: string } | null> {
  const root = workspaces.pathOf(sessionId);
  const { token, extras, hasFiles } = await store.artifacts.findWorkspace(sessionSeq);
  if (!hasFiles && extras === null && !existsSync(root)) return null;
  const files = hasFiles ? await recordedFiles(store, 'workspace', sessionSeq) : [];
  const hold = blobs.hold();
  try {
    // Copies of what is in a bucket stay here until they are read.
    for (const { sha256 } of files) hold.add(sha256);
    return await snapshotThread.layOut({
      sessionId,
      root,
      files,
      extras,
      token,
      owner: ownerFor(workspaces.owner, userSeq),
      keepFreeBytes: settings().disk.keepFreeMb * MB,
      signal: off.signal,
      ...requestLimits(settings()),
    });
  } catch (error) {
    if (isNoSpace(error)) wantsRoom(files.reduce((sum, { size }) => sum + size, 0));
    throw error;
  } finally {
    hold.release();
  }
}

const lost = (path: string): RunError => ({
  type: 'api_error',
  message: `The workspace of the session cannot be restored: the content of ${path} is lost.`,
  retryable: false,
});
