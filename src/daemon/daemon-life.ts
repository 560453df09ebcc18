// A running daemon: how it is reloaded, drained, halted, and what ends it.
import type { LiveConfig } from '../config/live/live-config.ts';
import type { Log } from '../log/log.ts';
import { type Closer, closeAll } from './closers.ts';
import type { Engine } from './engine.ts';
import type { Store } from '../store/open-store.ts';
import type { Health, ServiceManager } from '../service-manager/service-manager.ts';
import type { Created } from './data/initialize.ts';
import { drainingStatus, drainLimitMs } from './service-status.ts';

/** A running daemon. */
export interface Daemon {
  /** Where it listens: a base URL, or `unix:/path`. */
  readonly url: string;
  /** What was created because the data directory was empty. */
  readonly created: Created | null;
  /** Resolves when everything is closed. */
  readonly ended: Promise<void>;
  /**
   * What was created has been shown: `/healthz` replies from now on. Reports to the service manager that the daemon is ready, and
   * from then on how it is.
   */
  ready(): Promise<void>;
  /** SIGHUP: reads all configuration files now. */
  reload(): void;
  /** SIGTERM: no new turns, open streams get their time, unfinished runs return to the queue. */
  drain(): Promise<void>;
  /** A second SIGTERM: everything ends now; committed data is safe. */
  halt(): Promise<void>;
}

interface Running {
  readonly url: string;
  readonly created: Created | null;
  readonly closers: Closer[];
  readonly log: Log;
  readonly live: Pick<LiveConfig, 'settings'>;
  /** Reads all configuration files now. */
  readonly reload: () => void;
  readonly rooms: Pick<Engine['rooms'], 'queue' | 'pool'>;
  readonly closing: AbortController;
  readonly draining: AbortController;
  readonly manager: ServiceManager;
  readonly health: Health;
  /** Ends the start. */
  started(): void;
  /** Leaves new connections to the next daemon, where something holds them until then. */
  handOver(): void;
  /** Resolves with the reason when nobody knows any more what the database holds. */
  readonly lost: Promise<unknown>;
}

/** How far a daemon's life has got. A first start lasts until its credentials were shown: who waits for it is going to read them. */
export async function makeStages(store: Pick<Store, 'users'>) {
  const start = Promise.withResolvers<void>();
  const [closing, draining] = [new AbortController(), new AbortController()];
  draining.signal.addEventListener('abort', () => start.resolve());
  let starting = (await store.users.count()) === 0 ? start.promise : null;
  return {
    /** Resolves when a first start is over, or the daemon drains before; null when there is none. */
    starting: () => starting,
    started: () => {
      starting = null;
      start.resolve();
    },
    closing,
    draining,
  };
}

/** Time limit for the last moves of a daemon that can't continue; what hangs is abandoned. */
const LAST_MOVES_SECONDS = 2;

export function makeDaemon(running: Running): Daemon {
  const { url, created, closers, log, live, rooms, closing, draining, manager, health, handOver, lost } = running;
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
  // Rejections reach everyone who waits for the end; there may be none.
  ended.catch(() => undefined);
  let drained: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  /** Once, for all callers: overlapping closers would close the store while others still write. */
  const close = (): Promise<void> => (closed ??= closeAll(closers));

  async function drain(): Promise<void> {
    log.info('draining');
    const { drainSeconds } = live.settings().streams;
    manager.stopping(drainingStatus(rooms.pool.load().busy, drainSeconds), drainLimitMs(drainSeconds));
    // First: who connects now must not be refused.
    handOver();
    closing.abort();
    rooms.queue.pause();
    await withinDrainTime(rooms.queue.idle(), drainSeconds);
    draining.abort();
    await rooms.queue.release();
    await close();
    log.info('stopped');
    end();
  }

  async function endAtOnce(): Promise<void> {
    closing.abort();
    draining.abort();
    // The runs return to the queue as in a drain, but without waiting for their threads to end. Only then may the store close.
    const released = rooms.queue.release();
    await rooms.pool.destroy();
    await released;
    await close();
  }

  void lost.then(async (error) => {
    log.fatal(
      { err: error },
      'the daemon ends: what its database holds may differ from what it has written; the next start continues from what is there',
    );
    await withinDrainTime(endAtOnce(), LAST_MOVES_SECONDS).catch(() => undefined);
    fail(error);
  });

  return {
    url,
    created,
    ended,
    ready: () => {
      running.started();
      return manager.ready(health);
    },
    reload: () => {
      log.info('reloading the configuration');
      manager.reloading(running.reload);
    },
    drain: () => {
      drained ??= drain();
      return drained;
    },
    halt: async () => {
      await endAtOnce();
      end();
    },
  };
}

async function withinDrainTime(work: Promise<void>, seconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    work,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, seconds * 1_000);
    }),
  ]);
  clearTimeout(timer);
}
