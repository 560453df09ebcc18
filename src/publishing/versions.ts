// Makes versions of pages: plans what one holds, copies its manifest, and publishes it (F11).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ErrandError } from '../domain/errors.ts';
import type { VersionLimits } from '../domain/publishing/manifest.ts';
import type { Happened } from '../events/wakes.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import { withAllHeld } from '../files/blobs/with-all-held.ts';
import type { Disk } from '../files/disk.ts';
import type { Note } from '../store/audit/record-entry.ts';
import type { Store } from '../store/open-store.ts';
import type { PlannedVersion, VersionPlan, VersionSource } from '../store/publishing/plan-version.ts';
import { FilesGone, type Publication, type Published } from '../store/publishing/versions.ts';
import { type FileWaitParts, makeFileWaits } from './file-waits.ts';

export interface VersionParts extends FileWaitParts {
  readonly store: { readonly pages: Pick<Store['pages'], 'planVersion' | 'copyPart' | 'publish'> };
  readonly blobs: Pick<BlobStore, 'hold' | 'holdRest'>;
  readonly disk: Pick<Disk, 'shortage'>;
  readonly happened: Happened;
  settings(): { readonly publish: VersionLimits };
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
  /** The same, after waiting up to 20 s for the files of runs that have ended. Throws `unavailable` when the daemon ends meanwhile. */
  publish(source: VersionSource, publication: Publication, note?: Note<Published>): Promise<VersionOutcome>;
  /** The daemon ends: nobody waits any more. */
  endWaits(): void;
  /** How many versions are being copied: while there is none, every draft was abandoned. */
  active(): number;
}

/** Files in one commit: each needs a place of its own in the index on contents. */
const PART = 250;
/** Attempts where files change while they are published. */
const TRIES = 3;
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
  const { store, blobs, disk, happened, settings } = parts;
  const waits = makeFileWaits(parts);
  let active = 0;
  const takeTurn = makeTurns();

  const attemptOnce: Versions['attempt'] = async (source, publication, note) => {
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

  const attempt: Versions['attempt'] = (...input) => whileFilesChange(async () => attemptOnce(...input));

  function refuseUnlessRoom(): void {
    if (active >= MAX_ACTIVE)
      throw new ErrandError('unavailable', 'Too many versions are being published at once. Try again soon.');
    const shortage = disk.shortage();
    if (shortage !== null) throw new ErrandError('unavailable', shortage.words);
  }

  const publish: Versions['publish'] = async (source, ...rest) =>
    waits.untilCollected(source.sessionSeq, () => attempt(source, ...rest));

  return { attempt, publish, endWaits: waits.end, active: () => active };
}

/** Tries again what finds other files than it has read. */
async function whileFilesChange<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof FilesGone) || tries === TRIES) throw error;
    }
  }
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
