// The look into the database and at the blobs, in a thread: it takes long, and the files may be anything.
import type { Defined } from '../domain/capabilities/pin.ts';
import type { Clock } from '../domain/clock.ts';
import type { AuditLink } from '../domain/people/audit-anchor.ts';
import type { Orphan } from '../files/orphans.ts';
import type { Inspection } from '../store/inspection/inspect.ts';
import { makeOneShotHost } from '../threads/one-shot.ts';
import { threadFile } from '../threads/thread-file.ts';

/** Blobs that rows name, and what is there of them. */
export interface BlobCount {
  readonly named: number;
  readonly missing: number;
  /** Files that have another size than their rows say. */
  readonly wrong: number;
  /** Keys of some that are missing or wrong. */
  readonly examples: readonly string[];
  /** Whether all of them were looked at. */
  readonly isWhole: boolean;
}

/** Files that no row names. */
export interface OrphanCount {
  readonly blobs: number;
  /** Of these blobs. */
  readonly bytes: number;
  readonly workspaces: number;
  /** The first of them. */
  readonly examples: readonly Orphan[];
  /** Whether everything was looked at. */
  readonly isWhole: boolean;
}

export interface LookTask {
  readonly file: string;
  readonly blobs: string;
  readonly workspaces: string;
  /** What was changed since is no orphan. */
  readonly orphansBefore: number;
  readonly silentSince: number;
  readonly full: boolean;
  /** The end of the audit log by its anchor; null without one. */
  readonly auditEnd: AuditLink | null;
  readonly defined: Defined | null;
  readonly now: number;
}

/** What was seen, or why nothing could be. */
export type Look =
  | { readonly ok: true; readonly database: Inspection; readonly blobs: BlobCount; readonly orphans: OrphanCount }
  | { readonly ok: false; readonly why: string };

const MEMORY_MB = 256;
const USUAL_MS = 120_000;
/** Of a full look: an hour of reading. */
const FULL_MS = 3_600_000;

/** Makes the function that looks, and the one that ends all looks. */
export function makeLooker(clock: Clock) {
  const threads = makeOneShotHost<LookTask, Look>({
    clock,
    file: threadFile('./look-worker.ts', import.meta.url),
    memoryMb: MEMORY_MB,
    maxAtOnce: 1,
  });
  return {
    look: async (task: LookTask, signal: AbortSignal): Promise<Look> => {
      const deadlineMs = task.full ? FULL_MS : USUAL_MS;
      const end = await threads.run(async () => ({ task }), { deadlineMs, signal });
      if (end.kind === 'done') return end.value;
      if (end.kind === 'timeout') return { ok: false, why: `it took longer than ${deadlineMs / 1_000} seconds` };
      return { ok: false, why: `its thread ended early (${end.kind})` };
    },
    stop: threads.stop,
  };
}
