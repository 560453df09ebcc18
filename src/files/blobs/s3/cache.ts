// How much of a bucket the directory keeps: what was used last, up to a limit.
import { rmSync, statSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../domain/clock.ts';
import type { Log } from '../../../log/log.ts';
import { makeService, type Service } from '../../../services/service.ts';
import { blobPath, listKeys } from '../blob-place.ts';

export interface CacheParts {
  readonly directory: string;
  /** Bytes. */
  limit(): number;
  /** Whether someone holds a blob: it may not be in the bucket yet, or is about to be read by its path. */
  isHeld(key: string): boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Cache {
  /** Blobs were added. */
  added(bytes: number): void;
  /** A blob was used. */
  used(key: string): void;
  /** Counts what there is, and removes what is too much. Wake it once. */
  readonly keeper: Service;
}

/** Names that are looked at before the event loop turns. */
const SLICE = 50;
/** Time in which uses of a blob count once: each is written beside its file. */
const USE_MS = 600_000;
const MAX_USES = 10_000;
/** Copies that were stored again aren't known before the next count. */
const COUNT_MS = 3_600_000;
/** Removing goes on to this share of the limit, so that it isn't needed each time. */
const LEFT = 0.9;
/** What is as old is removed together: the least that was read from a large directory, whatever it has. */
const BAND_MS = 600_000;

export function makeCache(parts: CacheParts): Cache {
  const { directory, limit, clock, log } = parts;
  /** Null: nobody has counted yet. */
  let total: number | null = null;
  /** When blobs were last noted as used. */
  const uses = new Map<string, number>();

  async function work(stopping: AbortSignal): Promise<number> {
    const { counted, bands } = await count(parts, stopping);
    total = counted;
    if (stopping.aborted || counted <= limit()) return COUNT_MS;
    total -= await removeOld(parts, excessOf(bands, counted - limit() * LEFT), stopping);
    return COUNT_MS;
  }

  const keeper = makeService({ work, failure: 'the local copies of files could not be counted', clock, log });
  return {
    keeper,
    added: (bytes) => {
      if (total !== null) total += bytes;
      if (total !== null && total > limit()) keeper.wake();
    },
    used: (key) => {
      const now = clock.monotonic();
      if (now - (uses.get(key) ?? -Infinity) < USE_MS) return;
      if (uses.size >= MAX_USES) uses.clear();
      uses.set(key, now);
      const at = new Date(clock.now());
      // Rows, and what is removed meanwhile, have no file.
      utimes(blobPath(directory, key), at, at).catch(() => undefined);
    },
  };
}

/** Bytes by when they were used. */
type Bands = ReadonlyMap<number, number>;

const bandOf = ({ atimeMs, mtimeMs }: { readonly atimeMs: number; readonly mtimeMs: number }): number =>
  Math.floor(Math.max(atimeMs, mtimeMs) / BAND_MS);

/** All bytes, and those that nobody holds by when they were used. */
async function count({ directory, isHeld }: CacheParts, stopping: AbortSignal) {
  let counted = 0;
  const bands = new Map<number, number>();
  for await (const { key, stats } of eachFile(directory, stopping)) {
    counted += stats.size;
    if (isHeld(key)) continue;
    const band = bandOf(stats);
    bands.set(band, (bands.get(band) ?? 0) + stats.size);
  }
  return { counted, bands };
}

interface Excess {
  /** All that was used earlier goes. */
  readonly band: number;
  /** Of this band, so many bytes. */
  readonly bytes: number;
}

/** What has to go for so many bytes. */
function excessOf(bands: Bands, bytes: number): Excess {
  let left = bytes;
  for (const [band, there] of [...bands].sort(([a], [b]) => a - b)) {
    if (left <= there) return { band, bytes: left };
    left -= there;
  }
  return { band: Infinity, bytes: 0 };
}

/** Returns how many bytes were removed. */
async function removeOld({ directory, isHeld }: CacheParts, excess: Excess, stopping: AbortSignal): Promise<number> {
  let [removed, ofBand] = [0, 0];
  for await (const { key, stats } of eachFile(directory, stopping)) {
    const band = bandOf(stats);
    if (band > excess.band || isHeld(key)) continue;
    if (band === excess.band) {
      if (ofBand >= excess.bytes) continue;
      ofBand += stats.size;
    }
    // Within this turn: nobody begins to hold it meanwhile.
    rmSync(blobPath(directory, key), { force: true });
    removed += stats.size;
  }
  return removed;
}

async function* eachFile(directory: string, stopping: AbortSignal) {
  let looked = 0;
  for await (const key of listKeys(directory)) {
    if (stopping.aborted) return;
    const stats = statSync(blobPath(directory, key), { throwIfNoEntry: false });
    if (stats !== undefined) yield { key, stats };
    looked += 1;
    if (looked % SLICE === 0) await nextTurn();
  }
}
