// The scheduler: fires tasks when they are due, a few per commit, so that others can write in between (I1, I9).
import type { Clock } from '../../domain/clock.ts';
import type { SessionSetup } from '../../domain/sessions/session.ts';
import type { Disk } from '../../files/disk.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';
import type { DueFiring, DueTask, FiringLimits, FiringReport } from '../../store/schedules/fire.ts';

export interface SchedulerParts {
  readonly store: Pick<Store, 'schedules'>;
  /** What a session of a task gets now. */
  setupOf(task: Pick<DueTask, 'target' | 'userSeq'>): Promise<SessionSetup>;
  /** The limits of background work, as they are now. */
  limits(): FiringLimits;
  readonly disk: Disk;
  /** Between 0 and 1. */
  random(): number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Tasks per commit. */
const BATCH = 20;
/** Times are wall time: a jump of that clock is noticed within this time. */
const LOOK_MS = 60_000;
/** While the queue of background work or the disk is full. */
const HOLD_MS = 2_000;
/** Until a task that can't be fired is tried again. */
const BROKEN_MS = 60_000;
/** For how long the tasks of an owner over their limit are put off: different for each, so that not all come back at once. */
const PUT_OFF = { fromMs: 2_000, spreadMs: 2_000 } as const;

/** Makes the service. Wake it when a task was created or changed. It sets no timer while no task is enabled. */
export function makeScheduler(parts: SchedulerParts): Service {
  const { store, limits, disk, clock, log } = parts;
  const { schedules } = store;
  let isFull = false;

  async function work(): Promise<number | null> {
    const next = await schedules.nextLook(clock.now());
    if (next === undefined) return null;
    if (next.isBehind) {
      await schedules.recount(BATCH);
      return 1;
    }
    const leftMs = next.at - clock.now();
    if (leftMs > 0) return Math.min(leftMs, LOOK_MS);
    if (disk.shortage() !== null) return HOLD_MS;
    const due = await schedules.listDue(clock.now(), BATCH);
    note(await fire(due));
    return isFull ? HOLD_MS : 1;
  }

  /** Fires in one commit; where that fails, each task in its own, so that a broken one holds up no other. */
  async function fire(due: readonly DueTask[]): Promise<FiringReport> {
    try {
      return await schedules.fireDue(await equip(parts, due), limits());
    } catch (error) {
      const report = { fired: 0, skipped: 0, putOff: 0, full: false };
      if (due.length === 1) {
        const { seq, id } = due[0]!;
        // Fails as well when the store refuses everything: then the loop retries.
        await schedules.putOff(seq, BROKEN_MS);
        log.error({ scheduled_task_id: id, err: error }, 'a scheduled task could not be fired; will retry in a minute');
        return report;
      }
      for (const task of due) {
        const { fired, skipped, putOff, full } = await fire([task]);
        report.fired += fired;
        report.skipped += skipped;
        report.putOff += putOff;
        report.full ||= full;
      }
      return report;
    }
  }

  function note({ full, ...count }: FiringReport): void {
    if (full && !isFull)
      log.warn(count, 'the queue of background work is full: scheduled tasks wait until it has room');
    else if (count.fired + count.skipped > 0) log.info(count, 'scheduled tasks were due');
    else if (count.putOff > 0) log.debug(count, 'scheduled tasks were put off');
    isFull = full;
  }

  return makeService({ work, failure: 'scheduled tasks could not be fired', clock, log });
}

/** Adds what the sessions of due tasks need: once for all tasks of one owner with the same target. */
async function equip({ setupOf, random }: SchedulerParts, due: readonly DueTask[]): Promise<DueFiring[]> {
  const setups = new Map<string, SessionSetup>();
  const firings: DueFiring[] = [];
  for (const task of due) {
    const key = `${task.userSeq} ${task.target}`;
    const setup = setups.get(key) ?? (await setupOf(task));
    setups.set(key, setup);
    const putOffMs = PUT_OFF.fromMs + Math.floor(random() * PUT_OFF.spreadMs);
    firings.push({ seq: task.seq, dueAt: task.dueAt, setup, putOffMs });
  }
  return firings;
}
