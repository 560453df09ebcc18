// What systemd learns of the daemon: that it is ready, how it is, that it is alive, reloads and stops.
import type { Clock, Timer } from '../domain/clock.ts';
import type { ServiceEnvironment } from './environment.ts';
import { makeNotifier, type Message } from './notifier.ts';

/** How the daemon is. */
export interface Health {
  /** A line for `systemctl status`. */
  status(): string;
  /** Settles when the database's writer has come to a request, with whatever result. */
  answered(): Promise<unknown>;
}

export interface ServiceManager {
  /** Before work that blocks the event loop and may take this long. */
  migrating(status: string, limitMs: number): void;
  /** The daemon is ready. From now on its signs of life and its status follow. */
  ready(health: Health): Promise<void>;
  /** Reports the start of `work`, does it, then reports its end and the status. */
  reloading(work: () => void): void;
  /** The daemon stops, which may take this long. */
  stopping(status: string, limitMs: number): void;
  /** No more signs of life. Resolves when what was reported before has been handled: the last may be that the daemon stops. */
  end(): Promise<void>;
}

export interface ServiceManagerParts {
  readonly service: ServiceEnvironment;
  readonly clock: Clock;
  failed(error: unknown): void;
}

/** How often the status is renewed when no signs of life are due. */
const STATUS_EVERY_MS = 30_000;
/** Signs of life within the time that systemd waits for one: two may be lost. */
const SIGNS_PER_LIMIT = 3;
const RETRY_MS = 1_000;

/** Makes the reporter; without a service manager, one that reports nothing. */
export function makeServiceManager({ service, clock, failed }: ServiceManagerParts): ServiceManager {
  const notifier = makeNotifier({ ...service, failed });
  const everyMs = service.watchdogMs === null ? STATUS_EVERY_MS : service.watchdogMs / SIGNS_PER_LIMIT;
  let health: Health | undefined;
  let timer: Timer | undefined;
  let hasEnded = false;
  /** What is repeated with each sign of life: before systemd 246, a message could be lost when its sender had ended. */
  let state: Message = { READY: '1' };

  async function beat({ status, answered }: Health): Promise<void> {
    // A refusal is an answer too: a restart frees no disk.
    await answered().catch(() => undefined);
    if (hasEnded) return;
    const alive = service.watchdogMs === null ? {} : { WATCHDOG: '1' };
    const isSent = await notifier.send({ ...state, ...alive, ...('READY' in state && { STATUS: status() }) });
    if (hasEnded) return;
    timer = clock.after(isSent ? everyMs : Math.min(RETRY_MS, everyMs), () => void beat(health!));
  }

  return {
    migrating: (status, limitMs) => notifier.sendNow({ STATUS: status, EXTEND_TIMEOUT_USEC: microseconds(limitMs) }),
    ready: async (given) => {
      if (service.notifySocket === null) return;
      health = given;
      await beat(given);
    },
    reloading: (work) => {
      if (health === undefined || !('READY' in state)) return work();
      void notifier.send({ RELOADING: '1', MONOTONIC_USEC: String(process.hrtime.bigint() / 1_000n) });
      try {
        work();
      } finally {
        void notifier.send({ ...state, STATUS: health.status() });
      }
    },
    stopping: (status, limitMs) => {
      state = { STOPPING: '1' };
      void notifier.send({ ...state, STATUS: status, EXTEND_TIMEOUT_USEC: microseconds(limitMs) });
    },
    end: () => {
      hasEnded = true;
      timer?.cancel();
      return notifier.flush();
    },
  };
}

function microseconds(ms: number): string {
  return String(Math.ceil(ms * 1_000));
}
