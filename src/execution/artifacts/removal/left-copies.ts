// Each node removes from its own disk the files of sessions that were deleted, or whose workspaces are at another node now; idle ones, too.
import { MB } from '../../../domain/byte-units.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { Settings } from '../../../domain/settings.ts';
import { listLocalSessions } from '../../../files/local-sessions.ts';
import type { SnapshotThread } from '../../../files/snapshots/snapshot-thread.ts';
import type { Workspaces } from '../../../files/workspaces.ts';
import type { Log } from '../../../log/log.ts';
import { makeService, type Service } from '../../../services/service.ts';
import { MOST_LISTED } from '../../../store/engine/listed.ts';
import type { Store } from '../../../store/open-store.ts';
import type { LeftCopy } from '../../../store/sessions/left-copies.ts';
import { type BegunWatch, watching } from './begun-watch.ts';
import { type IdleCopyParts, makeIdleCopies } from './idle-copies.ts';

export interface LeftCopyParts extends IdleCopyParts {
  readonly store: {
    readonly sessions: Pick<Store['sessions'], 'listLeftCopies' | 'findLeftCopies' | 'listIdleCopies'>;
  };
  /** This node. */
  readonly here: string;
  readonly dataDir: string;
  readonly workspaces: Pick<Workspaces, 'pathOf' | 'retire' | 'removeRetired'>;
  readonly snapshotThread: Pick<SnapshotThread, 'forget'>;
  /** Whether a run of a session executes here: what it has is in use, also while it is being laid out. */
  isExecuting(sessionSeq: number): boolean;
  watchBegun(): BegunWatch;
  settings(): Pick<Settings, 'retention' | 'disk'>;
  /** Bytes that are free on the disk of the data directory. */
  free(): number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LeftCopies extends Pick<Service, 'wake' | 'settled' | 'stop'> {
  /** A session was deleted, or an executor of one has ended. */
  notice(sessionSeq: number): void;
  /** So many bytes are needed, once, beside what is free anyway: idle copies go at once, as far as that takes. */
  wantRoom(bytes: number): void;
}

const DAY_MS = 86_400_000;
const LOOK_MS = 3_600_000;
/** Time before what could not be removed is tried again. */
const RETRY_MS = 60_000;
/** How often the disk is looked at, which costs one call. */
const ROOM_LOOK_MS = 10_000;
/** Idle copies go while less than that is free above what has to stay free: before a turn is refused for their sake. */
const SPARE_BYTES = 256 * MB;
/** Sessions that are remembered; with more, all that is here is looked at. */
const MOST_NOTICED = 1_000;

/** Makes the service. A crash at any moment costs nothing: what is left is found at the next look at everything, at the start and each hour. */
export function makeLeftCopies(parts: LeftCopyParts): LeftCopies {
  const { store, here, dataDir, clock, log, settings } = parts;
  const idle = makeIdleCopies(parts);
  const noticed = new Set<number>();
  let [isAllDue, nextAt, roomAt, wantedBytes] = [true, 0, 0, 0];

  async function work(stopping: AbortSignal): Promise<number> {
    if (isAllDue || clock.monotonic() >= nextAt) {
      isAllDue = false;
      noticed.clear();
      const isDone = await removeAll(stopping);
      nextAt = clock.monotonic() + (isDone ? LOOK_MS : RETRY_MS);
    }
    while (noticed.size > 0 && !stopping.aborted) {
      const some = [...noticed].slice(0, MOST_LISTED);
      for (const sessionSeq of some) noticed.delete(sessionSeq);
      if (!(await removeLeft(parts, async () => store.sessions.findLeftCopies(some, here), stopping)))
        nextAt = Math.min(nextAt, clock.monotonic() + RETRY_MS);
    }
    if (clock.monotonic() >= roomAt) {
      const hasRoom = await idle.makeRoom(() => listLocalSessions(dataDir, MOST_LISTED), lacksRoom, stopping);
      wantedBytes = 0;
      roomAt = clock.monotonic() + (hasRoom ? ROOM_LOOK_MS : RETRY_MS);
    }
    return Math.max(Math.min(nextAt, roomAt) - clock.monotonic(), 0);
  }

  const lacksRoom = () => parts.free() < settings().disk.keepFreeMb * MB + SPARE_BYTES + wantedBytes;

  async function removeAll(stopping: AbortSignal): Promise<boolean> {
    let isDone = true;
    for await (const ids of listLocalSessions(dataDir, MOST_LISTED)) {
      if (stopping.aborted) return true;
      if (!(await removeLeft(parts, async () => store.sessions.listLeftCopies(ids, here), stopping))) isDone = false;
      const { workspacesIdleDays } = settings().retention;
      if (workspacesIdleDays > 0) await idle.removeBefore(ids, clock.now() - workspacesIdleDays * DAY_MS, stopping);
    }
    return isDone;
  }

  const service = makeService({ work, failure: 'files that other nodes have now could not be removed', clock, log });
  return {
    wake: service.wake,
    settled: service.settled,
    stop: service.stop,
    wantRoom: (bytes) => {
      [wantedBytes, roomAt] = [Math.max(wantedBytes, bytes), 0];
      service.wake();
    },
    notice: (sessionSeq) => {
      if (sessionSeq === 0 || noticed.size >= MOST_NOTICED) isAllDue = true;
      else noticed.add(sessionSeq);
      service.wake();
    },
  };
}

/** Returns whether all of it is gone. */
const removeLeft = (
  parts: LeftCopyParts,
  find: () => Promise<readonly LeftCopy[]>,
  stopping: AbortSignal,
): Promise<boolean> =>
  // Before they are asked for: a run that begins after that may have it laid out.
  watching(parts.watchBegun, async (begun) => {
    let isDone = true;
    for (const copy of await find()) {
      if (stopping.aborted) break;
      if (!(await removeOne(parts, copy, begun))) isDone = false;
    }
    return isDone;
  });

/** Returns false when something of it is still there, and nobody uses that. */
async function removeOne(
  { workspaces, snapshotThread, isExecuting, log }: LeftCopyParts,
  { sessionSeq, sessionId }: LeftCopy,
  begun: Pick<BegunWatch, 'has'>,
): Promise<boolean> {
  try {
    // What an earlier attempt has taken out of the way.
    await workspaces.removeRetired(sessionId);
    // Within one turn: whoever begins afterwards finds nothing here, and has it laid out.
    if (isExecuting(sessionSeq) || begun.has(sessionSeq)) return true;
    const wasThere = workspaces.retire(sessionId);
    await workspaces.removeRetired(sessionId);
    await snapshotThread.forget(sessionId);
    if (wasThere === true) log.info({ session_id: sessionId }, 'the files of a session that is not here were removed');
    return wasThere !== 'blocked';
  } catch (error) {
    log.error({ session_id: sessionId, err: error }, 'the files of a session that is not here could not be removed');
    return false;
  }
}
