// Checkpoints: committed pages move from the write-ahead log into the database file, between commits rather than within them.
import type Connection from 'better-sqlite3';
import { MB } from '../../../domain/byte-units.ts';
import type { Clock, Timer } from '../../../domain/clock.ts';
import { isTurnTaken, takeTurn } from '../../../domain/loop/own-turn.ts';

/** Delay after a commit until the log is checked, once for all commits until then. */
const LOOK_MS = 50;
/** Without a commit for so long, the database is quiet. */
const QUIET_MS = 5_000;
/** Pages in the log at which they are moved: some 4 MB. On a full disk, what frees space is written where the log was before. */
const FULL_PAGES = 1_000;
/** Pages that are worth moving when nothing else is to be done. */
const SOME_PAGES = 250;
/** A log that can't restart is reported from this size on, and again at each doubling. */
const ALARM_BYTES = 64 * MB;

export interface Checkpoints {
  /**
   * Called before each commit: moves the pages of a full log, and returns whether it has. They may have taken long, so the commit comes in
   * a later turn of the loop; and as long texts fill the log at once, the pages of no second one are ever added to them.
   */
  makeRoom(): boolean;
  /** Called after each commit. */
  committed(): void;
  /** Bytes of a log that grows because a reader keeps an old snapshot of the database open; null otherwise. */
  heldBytes(): number | null;
  stop(): void;
}

export interface CheckpointParts {
  readonly connection: Connection.Database;
  readonly clock: Clock;
  /** A checkpoint failed. The log keeps what it has. */
  failed(error: unknown): void;
  /** The log has grown to this many bytes and can't restart. */
  held(bytes: number): void;
}

/** Pages in the log, and how many of them are in the file as well. */
interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

type Statement = Connection.Statement<[], LogState>;

/** Keeps the log of a database short. Skips pages that a reader still needs: nothing here waits. */
export function makeCheckpoints(parts: CheckpointParts): Checkpoints {
  const { clock, failed } = parts;
  const log = makeLog(parts);
  let committedAt = 0;
  const timers: { soon?: Timer | undefined; quiet?: Timer | undefined } = {};
  let stopped = false;

  function look(): void {
    timers.soon = undefined;
    timers.quiet?.cancel();
    if (stopped) return;
    if (isTurnTaken()) return void setImmediate(look);
    tryTo(() => {
      const pages = log.read().log;
      const isQuiet = clock.monotonic() - committedAt >= QUIET_MS;
      if (isQuiet && log.isLong()) log.move(pages, 'cut');
      else if (isQuiet ? pages >= SOME_PAGES : log.isFull(pages)) log.move(pages, 'move');
      if (!isQuiet && (pages >= SOME_PAGES || log.isLong())) timers.quiet = clock.after(QUIET_MS, look);
    });
  }

  function tryTo<Result>(work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      log.leave();
      failed(error);
      return undefined;
    }
  }

  return {
    makeRoom: () =>
      tryTo(() => {
        const { log: pages, checkpointed } = log.read();
        // The next commit begins the log anew when all of it is in the file.
        if (!log.isFull(pages) || pages === checkpointed) return false;
        log.move(pages, 'move');
        return true;
      }) ?? false,
    committed: () => {
      committedAt = clock.monotonic();
      timers.soon ??= clock.after(LOOK_MS, look);
    },
    heldBytes: log.heldBytes,
    stop: () => {
      stopped = true;
      timers.soon?.cancel();
      timers.quiet?.cancel();
    },
  };
}

/** The log itself: how long it is, and how its pages are moved. */
function makeLog({ connection, held }: Pick<CheckpointParts, 'connection' | 'held'>) {
  const ask = (mode: string): Statement => connection.prepare(`PRAGMA wal_checkpoint(${mode})`);
  const statements = { look: ask('NOOP'), move: ask('PASSIVE'), cut: ask('TRUNCATE') };
  const pageBytes = (connection.pragma('page_size', { simple: true }) as number) + 24;
  let [nextAt, alarmAt] = [FULL_PAGES, ALARM_BYTES];
  let heldBytes: number | null = null;
  /** The pages that its file has: the most that it had since it was cut. */
  let longest = 0;

  function report(bytes: number): void {
    heldBytes = bytes >= ALARM_BYTES ? bytes : null;
    if (heldBytes === null) alarmAt = ALARM_BYTES;
    else if (bytes >= alarmAt) {
      alarmAt = 2 * bytes;
      held(bytes);
    }
  }

  return {
    read: (): LogState => {
      const state = statements.look.get()!;
      longest = Math.max(longest, state.log);
      return state;
    },
    /** Moves its pages into the database file, as many as it has, and cuts its own if that is asked for. */
    move: (pages: number, how: 'move' | 'cut'): void => {
      takeTurn();
      const { log, checkpointed } = statements[how].get()!;
      // A reader of an old snapshot keeps the log from restarting, however much of it is in the file; and while another process moves
      // pages, there are no figures.
      const isHeld = checkpointed < log || log < 0;
      nextAt = isHeld ? pages + FULL_PAGES : FULL_PAGES;
      if (how === 'cut' && log === 0) longest = 0;
      report(isHeld ? pages * pageBytes : 0);
    },
    isFull: (pages: number): boolean => pages >= nextAt,
    isLong: (): boolean => longest >= FULL_PAGES,
    /** It can't be moved now: not again at the very next commit. */
    leave: (): void => void (nextAt += FULL_PAGES),
    heldBytes: () => heldBytes,
  };
}
