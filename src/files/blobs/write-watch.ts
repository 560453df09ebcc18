// Whether a directory accepts files: checked in the background, so that a hanging disk blocks no caller.
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../domain/errors.ts';
import type { Clock } from '../../domain/clock.ts';

export interface WriteWatch {
  /** The error code of the last check, such as `EROFS`; null when it could write. Starts another check when that one is old. */
  fault(): string | null;
}

const STALE_MS = 5_000;
/** More than a file system stores inline with a file's name, so that a full disk is noticed. */
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
