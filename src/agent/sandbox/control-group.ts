// Control groups: they hold all of a sandbox to its limits, where the system has given the daemon a subtree of its own.
import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../../domain/errors.ts';

const MOUNT = '/sys/fs/cgroup';
/** Where the daemon itself moves to: a group that has members gives its groups no controllers. */
const OWN = 'daemon';
const PREFIX = 'sandbox-';
const CONTROLLERS = ['memory', 'pids'];
/** For the shells and the bubblewrap around what was asked for. */
const [OUTER_BYTES, OUTER_PROCESSES] = [32 * 1024 * 1024, 16];
const CLOSE_MS = 2_000;

/** The group of one sandbox. */
export interface ControlGroup {
  /** Absolute path of its folder. */
  readonly path: string;
  /** Whether the kernel has ended it because its memory ran out. */
  ranOut(): Promise<boolean>;
  /** Kills what is left in it, and removes it. */
  close(): Promise<void>;
}

/**
 * Prepares the daemon's own group for groups of sandboxes, and answers its folder. Null where the group is not the daemon's
 * alone, or not its to divide (`Delegate=memory pids` in systemd), or where there are no control groups of version 2.
 */
export async function takeControlGroups(): Promise<string | null> {
  try {
    const lines = (await readFile('/proc/self/cgroup', 'utf8')).split('\n');
    const path = lines.find((line) => line.startsWith('0::'))?.slice(3);
    if (path === undefined) return null;
    const own = join(MOUNT, path);
    const folder = basename(own) === OWN ? dirname(own) : await divide(own);
    const given = (await readFile(join(folder, 'cgroup.subtree_control'), 'utf8')).trim().split(' ');
    if (!CONTROLLERS.every((name) => given.includes(name))) return null;
    for (const name of await readdir(folder)) if (name.startsWith(PREFIX)) await remove(join(folder, name));
    return folder;
  } catch {
    return null;
  }
}

/** Moves the daemon into a group beneath its own, whose controllers it then hands on. Throws where it may not. */
async function divide(own: string): Promise<string> {
  // The root of all groups has no type. What others live in is theirs, too.
  await access(join(own, 'cgroup.type'));
  const [members, controllers] = await Promise.all(
    ['cgroup.procs', 'cgroup.controllers'].map(async (name) => (await readFile(join(own, name), 'utf8')).trim()),
  );
  const offered = controllers!.split(' ');
  if (members !== String(process.pid) || !CONTROLLERS.every((name) => offered.includes(name))) {
    throw new Error('This group is not to be divided.');
  }
  await mkdir(join(own, OWN), { recursive: true });
  await writeFile(join(own, OWN, 'cgroup.procs'), members);
  await writeFile(join(own, 'cgroup.subtree_control'), CONTROLLERS.map((name) => `+${name}`).join(' '));
  return own;
}

/** Makes a group in the folder that was prepared. When its memory runs out, all of it ends. */
export async function makeControlGroup(
  folder: string,
  limits: { readonly memoryBytes: number; readonly maxProcesses: number },
): Promise<ControlGroup> {
  const path = join(folder, PREFIX + randomUUID());
  await mkdir(path);
  await Promise.all([
    writeFile(join(path, 'memory.max'), String(limits.memoryBytes + OUTER_BYTES)),
    writeFile(join(path, 'memory.oom.group'), '1'),
    writeFile(join(path, 'pids.max'), String(limits.maxProcesses + OUTER_PROCESSES)),
    // Not there on a kernel that counts no swap.
    writeFile(join(path, 'memory.swap.max'), '0').catch(() => undefined),
  ]);
  return {
    path,
    ranOut: async () => /^oom_kill [1-9]/m.test(await readFile(join(path, 'memory.events'), 'utf8')),
    close: () => remove(path),
  };
}

async function remove(path: string): Promise<void> {
  // Linux 5.14 and newer; on older ones the end of the first process has to do.
  await writeFile(join(path, 'cgroup.kill'), '1').catch(() => undefined);
  const deadlineAt = performance.now() + CLOSE_MS;
  for (;;) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      // It has members until the last of them is wholly gone. The next start of the daemon removes it otherwise.
      if (codeOf(error) !== 'EBUSY' || performance.now() > deadlineAt) return;
    }
    await delay(5);
  }
}
