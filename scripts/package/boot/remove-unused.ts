// Removes what earlier versions of the executable have unpacked, when nobody has used it for a while.
import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

const UNUSED_MS = 30 * 24 * 60 * 60_000;

/** Looks beside a directory. What a process has open stays; a failure is ignored, because nothing depends on it. */
export function removeUnused(directory: string, now = Date.now()): void {
  try {
    const place = path.dirname(directory);
    const old = readdirSync(place)
      .map((name) => path.join(place, name))
      .filter((other) => other !== directory && statSync(other).mtimeMs < now - UNUSED_MS);
    if (old.length === 0) return;
    const open = openDirectories();
    for (const other of old) if (!open.has(other)) rmSync(other, { recursive: true, force: true });
  } catch {
    // Another process removes them as well, or they belong to someone else.
  }
}

/** What the processes of this user have open. */
function openDirectories(): ReadonlySet<string> {
  const open = new Set<string>();
  for (const process of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      for (const descriptor of readdirSync(`/proc/${process}/fd`))
        open.add(readlinkSync(`/proc/${process}/fd/${descriptor}`));
    } catch {
      // It has ended, or belongs to someone else, who doesn't use this user's directories.
    }
  }
  return open;
}
