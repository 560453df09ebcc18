// Keeps the anchor of the audit log: writes the log's end to a file outside of the database some seconds after it has moved, and notices
// when the log is not the one that it was (G17).
import type { Clock } from '../../domain/clock.ts';
import {
  type AnchorFault,
  type AuditAnchor,
  isSameAnchor,
  NO_ENTRY,
  wordsOfDoubt,
} from '../../domain/people/audit-anchor.ts';
import { type FoundAnchor, readAnchor, writeAnchor } from '../../files/audit-anchor.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { Log } from '../../log/log.ts';
import { makeService } from '../../services/service.ts';
import type { AnchoringNode } from '../../store/audit/anchored.ts';
import type { Store } from '../../store/open-store.ts';
import { makeSeal } from './audit.ts';

/** The least time between two writes: an entry may come each millisecond. */
export const ANCHOR_PAUSE_MS = 5_000;
/** How often the log is compared when nothing is recorded. */
export const ANCHOR_CHECK_MS = 60_000;

export interface AnchorKeeper {
  /** Compares and writes once, before anything else is recorded: what is recorded later would hide what is missing now. */
  start(): Promise<void>;
  /** The log has a new entry. */
  wake(): void;
  /** Resolves when the work in progress, if any, has ended. */
  settled(): Promise<void>;
  /** What is in the file now; `due`: there never was one, as it couldn't be written yet. */
  read(): Promise<FoundAnchor | { readonly kind: 'due' }>;
  /** What was found wrong, as a sentence; null when nothing was. */
  fault(): string | null;
  /** Writes the last end, and ends. */
  stop(): Promise<void>;
}

export interface AnchorParts {
  readonly store: { readonly audit: Pick<Store['audit'], 'compareWithAnchor' | 'isAnchorDue' | 'anchored'> };
  readonly dataDir: string;
  /** Whose anchor it is. */
  readonly node: AnchoringNode;
  readonly deriveKey: DeriveKey;
  readonly clock: Clock;
  readonly log: Log;
}

const BEGUN = 'the end of the audit log is anchored for the first time';
const FAILURE = 'the end of the audit log could not be anchored';

export function makeAnchorKeeper({
  store: { audit },
  dataDir,
  node,
  deriveKey,
  clock,
  log,
}: AnchorParts): AnchorKeeper {
  const seal = makeSeal(deriveKey);
  /** What this process has read or written last. */
  let known: AuditAnchor | null = null;
  const due = makeDue(audit, node, log);
  let keptAt = Number.NEGATIVE_INFINITY;

  async function keep(): Promise<void> {
    const inFile = await readAnchor(dataDir, seal);
    const isDue = await due.is();
    const trusted = known ?? (inFile.kind === 'sealed' ? inFile.anchor : null);
    const had = trusted?.end ?? NO_ENTRY;
    const { end, fault } = await audit.compareWithAnchor(had, seal);
    const found = trusted?.doubt ? null : (fault ?? faultOfFile(inFile, known, isDue));
    const doubt = found && { fault: found, foundAt: clock.now(), had: trusted && trusted.end };
    if (doubt !== null) log.error({ fault: found, audit_id: had.id, hash: had.hash }, wordsOfDoubt(doubt));
    const next: AuditAnchor = { end: end ?? had, doubt: trusted?.doubt ?? doubt };
    known = inFile.kind === 'sealed' && isSameAnchor(inFile.anchor, next) ? next : await written(next);
    await due.ends(next);
  }

  async function written(anchor: AuditAnchor): Promise<AuditAnchor> {
    await writeAnchor(dataDir, anchor, seal);
    return anchor;
  }

  const service = makeService({
    work: async () => {
      const pauseMs = keptAt + ANCHOR_PAUSE_MS - clock.monotonic();
      if (pauseMs > 0) return pauseMs;
      keptAt = clock.monotonic();
      await keep();
      return ANCHOR_CHECK_MS;
    },
    failure: FAILURE,
    clock,
    log,
  });

  return {
    start: async () => {
      service.wake();
      await service.settled();
    },
    wake: service.wake,
    settled: service.settled,
    read: async () => {
      const found = await readAnchor(dataDir, seal);
      return found.kind === 'missing' && (await audit.isAnchorDue(node)) ? { kind: 'due' } : found;
    },
    fault: () => (known?.doubt ? wordsOfDoubt(known.doubt) : null),
    stop: async () => {
      await service.stop();
      await keep().catch((error: unknown) => log.error({ err: error }, FAILURE));
    },
  };
}

/** Whether the node never had an anchor, until it has one. */
function makeDue(audit: AnchorParts['store']['audit'], node: AnchoringNode, log: Log) {
  let isDue: boolean | undefined;
  let isNoted = false;
  return {
    is: async () => (isDue ??= await audit.isAnchorDue(node)),
    ends: async ({ end }: AuditAnchor) => {
      if (!isNoted) await audit.anchored(node);
      // Logged: whoever can write to the database can have the daemon begin anew, in place of an anchor that was removed.
      if (isDue === true) log.info({ audit_id: end.id, hash: end.hash }, BEGUN);
      [isDue, isNoted] = [false, true];
    },
  };
}

/** What is wrong with the file. What this process has written must still be there. */
function faultOfFile(inFile: FoundAnchor, known: AuditAnchor | null, isDue: boolean): AnchorFault | null {
  if (inFile.kind === 'missing') return known === null && isDue ? null : 'anchor_missing';
  if (inFile.kind !== 'sealed') return 'anchor_altered';
  return known === null || isSameAnchor(inFile.anchor, known) ? null : 'anchor_altered';
}
