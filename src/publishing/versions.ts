// Makes versions of pages: plans what one holds, copies its manifest, and publishes it (F11).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';
import { ErrandError } from '../domain/errors.ts';
import type { OnCollected } from '../events/collected.ts';
import type { Happened } from '../events/wakes.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import { withAllHeld } from '../files/blobs/with-all-held.ts';
import type { Disk } from '../files/disk.ts';
import type { Note } from '../store/audit/record-entry.ts';
import type { Store } from '../store/open-store.ts';
import type { PlannedVersion, VersionPlan, VersionSource } from '../store/publishing/plan-version.ts';
import type { Publication, Published } from '../store/publishing/versions.ts';

export interface VersionParts {
  readonly store: { readonly pages: Pick<Store['pages'], 'planVersion' | 'copyPart' | 'publish'> };
  readonly blobs: Pick<BlobStore, 'hold' | 'holdRest'>;
  readonly disk: Pick<Disk, 'shortage'>;
  readonly onCollected: OnCollected;
  /** Whether runs of the session may be collected by other processes, which don't report all of it. */
  readonly hasPeers: boolean;
  readonly happened: Happened;
  readonly clock: Clock;
  settings(): Pick<Settings, 'publish'>;
}

/** What became of a version; any kind but `published` left nothing behind. */
export type VersionOutcome =
  | ({ readonly kind: 'published' } & Published)
  | Exclude<PlannedVersion, { readonly kind: 'planned' }>;

export interface Versions {
  /**
   * Publishes what is known now of the session's files. Throws as `Store.pages.publish` does, and `unavailable` when the disk
   * is almost full or too many versions are being made.
   */
  attempt(source: VersionSource, publication: Publication, note?: Note<Published>): Promise<VersionOutcome>;
  /** The same, after waiting up to 20 s for the files of runs that have ended. */
  publish(source: VersionSource, publication: Publication, note?: Note<Published>): Promise<VersionOutcome>;
  /** How many versions are being copied: while there is none, every draft was abandoned. */
  active(): number;
}

/** Files in one commit: each needs a place of its own in the index on contents. */
const PART = 250;
const WAIT_MS = 20_000;
/** While it waits, what other processes find is looked for so often. */
const LOOK_MS = 1_000;
/** Versions that are made at once: each holds the rows of its files. */
const MAX_ACTIVE = 32;
/** Of them, those that one owner asked for: nobody keeps the others waiting. */
const MAX_ASKED_FOR = 8;

/** Counts by owner. What it returns throws `unavailable` at too many, or returns what ends the turn. */
function makeTurns(): (userSeq: number) => () => void {
  const taken = new Map<number, number>();
  return (userSeq) => {
    const others = taken.get(userSeq) ?? 0;
    if (others >= MAX_ASKED_FOR)
      throw new ErrandError('unavailable', 'Too many versions of yours are being published at once. Try again soon.');
    taken.set(userSeq, others + 1);
    return () => {
      const left = taken.get(userSeq)! - 1;
      if (left === 0) taken.delete(userSeq);
      else taken.set(userSeq, left);
    };
  };
}

/** Makes the function. A version is seen whole or not at all, whatever happens meanwhile. */
export function makeVersions(parts: VersionParts): Versions {
  const { store, blobs, disk, onCollected, hasPeers, happened, clock, settings } = parts;
  let active = 0;
  const takeTurn = makeTurns();

  const attempt: Versions['attempt'] = async (source, publication, note) => {
    refuseUnlessRoom();
    const hold = blobs.hold();
    active += 1;
    let leave = () => {};
    try {
      const plan = await withAllHeld(blobs, async () => {
        const read = await store.pages.planVersion(source, settings().publish);
        if (read.kind === 'planned') for (const { sha256 } of read.files) hold.add(sha256);
        return read;
      });
      if (plan.kind !== 'planned') return plan;
      if (publication.trigger === 'manual') leave = takeTurn(plan.userSeq);
      const draft = await copyAllButLast(store.pages, plan);
      return { kind: 'published', ...(await store.pages.publish(draft, publication, note)) };
    } catch (error) {
      happened('draft abandoned');
      throw error;
    } finally {
      active -= 1;
      leave();
      hold.release();
      happened('blobs released');
    }
  };

  function refuseUnlessRoom(): void {
    if (active >= MAX_ACTIVE)
      throw new ErrandError('unavailable', 'Too many versions are being published at once. Try again soon.');
    const shortage = disk.shortage();
    if (shortage !== null) throw new ErrandError('unavailable', shortage.words);
  }

  const publish: Versions['publish'] = async (source, publication, note) => {
    const until = clock.monotonic() + WAIT_MS;
    for (;;) {
      const change = Promise.withResolvers<void>();
      const ignore = onCollected((sessionSeq) => {
        if (sessionSeq === source.sessionSeq) change.resolve();
      });
      const leftMs = Math.max(until - clock.monotonic(), 0);
      const timer = clock.after(hasPeers ? Math.min(leftMs, LOOK_MS) : leftMs, change.resolve);
      try {
        const outcome = await attempt(source, publication, note);
        if (outcome.kind !== 'uncollected' || clock.monotonic() >= until) return outcome;
        await change.promise;
      } finally {
        ignore();
        timer.cancel();
      }
    }
  };

  return { attempt, publish, active: () => active };
}

/** Copies a version into a draft, but for the last part. */
async function copyAllButLast({ copyPart }: Pick<Store['pages'], 'copyPart'>, plan: VersionPlan) {
  const { files } = plan;
  let [seq, from]: [number | null, number] = [null, 0];
  for (; files.length - from > PART; from += PART) {
    seq = await copyPart({ seq, plan, files: files.slice(from, from + PART) });
    await nextTurn();
  }
  return { seq, plan, files: files.slice(from) };
}
