// The scan of the database and the blobs, in a thread: it takes long, and the files may be anything.
import type { Defined } from '../domain/capabilities/pin.ts';
import type { Clock } from '../domain/clock.ts';
import type { AnchoringNode } from '../store/audit/anchored.ts';
import type { AuditLink } from '../domain/people/audit-anchor.ts';
import type { Orphan } from '../files/orphans.ts';
import type { Inspection } from '../store/inspection/inspect.ts';
import type { StoreReference } from '../store/location.ts';
import { makeOneShotHost } from '../workers/one-shot.ts';
import { onThread } from '../workers/on-thread.ts';
import { workerFile } from '../workers/worker-file.ts';

/** Blobs that rows name, and what is there of them. */
export interface BlobCount {
  readonly named: number;
  readonly missing: number;
  /** Those that have another size than the rows that name them say. */
  readonly wrong: number;
  /** Keys of some that are missing or wrong. */
  readonly examples: readonly string[];
  /** Whether all of them were looked at. */
  readonly isWhole: boolean;
  /** The bucket that has their bytes, so that those that are missing here are no local copies; null without one. */
  readonly bucket: string | null;
  /** Some of all keys, of a bucket. */
  readonly sample: readonly string[];
}

/** What no row names. */
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

export interface ScanTask {
  readonly store: StoreReference;
  readonly blobs: string;
  readonly workspaces: string;
  /** What was changed since is no orphan. */
  readonly orphansBefore: number;
  readonly silentSince: number;
  readonly full: boolean;
  /** The end of the audit log by its anchor; null without one. */
  readonly auditEnd: AuditLink | null;
  /** Whose anchor that is. */
  readonly node: AnchoringNode;
  readonly defined: Defined | null;
  readonly now: number;
}

/** What was seen, or why nothing could be. */
export type Scan =
  | { readonly ok: true; readonly database: Inspection; readonly blobs: BlobCount; readonly orphans: OrphanCount }
  | { readonly ok: false; readonly why: string };

const HEAP_MB = 256;
const USUAL_MS = 120_000;
/** Of a full scan: an hour of reading. */
const FULL_MS = 3_600_000;

/** Makes the function that scans, and the one that ends all scans. */
export function makeScanner(clock: Clock) {
  const threads = makeOneShotHost<ScanTask, Scan>({
    clock,
    start: onThread({ file: workerFile('./scan-worker.ts', import.meta.url), heapMb: HEAP_MB }),
    maxAtOnce: 1,
  });
  return {
    scan: async (task: ScanTask, signal: AbortSignal): Promise<Scan> => {
      const deadlineMs = task.full ? FULL_MS : USUAL_MS;
      const end = await threads.run(async () => task, { deadlineMs, signal });
      if (end.kind === 'done') return end.value;
      if (end.kind === 'timeout') return { ok: false, why: `it took longer than ${deadlineMs / 1_000} seconds` };
      return { ok: false, why: `its thread ended early (${end.kind})` };
    },
    stop: threads.stop,
  };
}
