// Whether a directory takes files: found out beside those who ask, so that a disk that hangs holds up nobody.
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../domain/errors.ts';
import type { Clock } from '../../domain/clock.ts';

export interface WriteWatch {
  /** The code of what kept the last try from writing, such as `EROFS`; null when it wrote. Begins another try when that is old. */
  fault(): string | null;
}

const STALE_MS = 5_000;
/** More than a file system keeps beside a file's name, so that a full disk is noticed. */
const TRIAL_BYTES = 8_192;

export function makeWriteWatch(directory: string, clock: Pick<Clock, 'monotonic'>): WriteWatch {
  let fault: string | null = null;
  let triedAt = Number.NEGATIVE_INFINITY;
  let trying = false;

  async function attempt(): Promise<void> {
    trying = true;
    const trial = join(directory, randomUUID());
    try {
      await writeFile(trial, Buffer.alloc(TRIAL_BYTES), { mode: 0o600, flag: 'wx' });
      fault = null;
    } catch (error) {
      fault = codeOf(error) ?? 'unknown';
    }
    await rm(trial, { force: true }).catch(() => undefined);
    triedAt = clock.monotonic();
    trying = false;
  }

  return {
    fault: () => {
      if (!trying && clock.monotonic() - triedAt >= STALE_MS) void attempt();
      return fault;
    },
  };
}
