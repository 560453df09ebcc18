// Control groups: they limit a whole sandbox, where the system has delegated a subtree to the daemon.
import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MB } from '../../domain/byte-units.ts';
import { codeOf } from '../../domain/errors.ts';

const MOUNT = '/sys/fs/cgroup';
/** The group that the daemon moves itself to: a group with members can't enable controllers for its children. */
const OWN = 'daemon';
const PREFIX = 'sandbox-';
const CONTROLLERS = ['memory', 'pids'];
/** For the shells and bubblewrap around the command. */
const [OUTER_BYTES, OUTER_PROCESSES] = [32 * MB, 16];
const CLOSE_MS = 2_000;

/** The control group of one sandbox. */
export interface ControlGroup {
  /** Absolute path of its folder. */
  readonly path: string;
  /** Whether the kernel ended it because its memory ran out. */
  ranOut(): Promise<boolean>;
  /** Kills what is left in it, and removes it. */
  close(): Promise<void>;
}

/**
 * Prepares the daemon's own group for groups of sandboxes, and returns its folder. Null where the group is not exclusively the
 * daemon's, or not delegated to it (`Delegate=memory pids` in systemd), or without control groups of version 2.
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

/** Moves the daemon into a child of its own group and enables the controllers for the children. Throws where it may not. */
async function divide(own: string): Promise<string> {
  // The root of all groups has no type. A group that others use is not ours either.
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

/** Makes a group in the prepared folder. When its memory runs out, all of its processes end. */
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
    // The file does not exist on a kernel that does not count swap.
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
      // It has members until the last of them is completely gone. Otherwise the daemon's next start removes it.
      if (codeOf(error) !== 'EBUSY' || performance.now() > deadlineAt) return;
    }
    await delay(5);
  }
}
