// Reads the config directory again for a name that isn't found: the watch reports a change only once it has settled.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { isUnread } from './watch-directory.ts';

/** Whoever asks for names that nobody defines makes the daemon look at the files for a twentieth of its time at most. */
const REST_PER_LOOK = 20;
const LONGEST_REST_MS = 1000;

export interface LookAgainParts {
  readonly directory: string;
  /** Applies the files as they are now. */
  readonly reload: () => void;
  readonly clock: Clock;
}

/**
 * Makes the look-up. All that miss a name meanwhile wait for the same look at the files, at most a second and the look itself;
 * they are read only if one of them has changed since the last look.
 */
export function makeLookUp({ directory, reload, clock }: LookAgainParts): LookUp {
  let seen: string | undefined;
  let restsUntil = -Infinity;
  /** The look that has not begun yet: one that has may have passed the file in question. */
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();

  async function look(): Promise<void> {
    await last;
    const rest = restsUntil - clock.monotonic();
    if (rest > 0) await new Promise<void>((resolve) => void clock.after(rest, resolve));
    next = undefined;
    const beganAt = clock.monotonic();
    const found = await listFiles(directory);
    const endedAt = clock.monotonic();
    restsUntil = endedAt + Math.min((endedAt - beganAt) * REST_PER_LOOK, LONGEST_REST_MS);
    if (found !== seen) reload();
    seen = found;
  }

  function lookAgain(): Promise<void> {
    if (next !== undefined) return next;
    const looking = look();
    next = looking;
    last = looking.catch(() => undefined);
    return looking;
  }

  return async (find) => {
    const found = find();
    if (found !== undefined && found !== false) return found;
    await lookAgain();
    return find();
  };
}

/** Every file that is read there, with what changes when it is written, replaced or moved. */
async function listFiles(directory: string): Promise<string> {
  const lines: string[] = [];
  async function list(folder: string): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const file = path.join(folder, entry.name);
      if (isUnread(path.relative(directory, file))) continue;
      if (entry.isDirectory()) await list(file);
      else lines.push(`${file} ${await markOf(file)}`);
    }
  }
  await list(directory);
  return lines.toSorted().join('\n');
}

async function markOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => null);
  return found === null ? '' : [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
}
