// What the kernel reports of a process and its children: processor time and memory.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Linux counts processor time in hundredths of a second, whatever the kernel's own tick is. */
const TICK_MS = 10;

/** Processor time of a process, its children and its former children, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const own = statOf(pid);
  if (own === undefined) return 0;
  const living = childrenOf(pid).reduce((sum, child) => sum + cpuMsOf(child), 0);
  return own + living;
}

const LOOK_MS = 150;
/** What a process may take between two looks when it has nothing left to do. */
const RESTING_MS = 20;
const MAX_REST_MS = 60_000;

/** Resolves when a process has done what it still had to do, such as collecting files after the replies, or after a minute. */
export async function atRest(pid: number): Promise<void> {
  const until = performance.now() + MAX_REST_MS;
  let [before, quietLooks] = [cpuMsOf(pid), 0];
  while (quietLooks < 2 && performance.now() < until) {
    await pause(LOOK_MS);
    const now = cpuMsOf(pid);
    quietLooks = now - before <= RESTING_MS ? quietLooks + 1 : 0;
    before = now;
  }
}

function statOf(pid: number): number | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name in parentheses may contain blanks; fields are counted after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks * TICK_MS;
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      (read(`/proc/${pid}/task/${task}/children`) ?? '').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Memory of a process now (`VmRSS`) or at its highest (`VmHWM`), in megabytes. */
export function memoryMbOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const text = read(`/proc/${pid}/status`) ?? '';
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;
}

/** Starts watching the whole machine: other work than that of this process and its children distorts the figures. */
export function watchMachine(): { busyElsewherePercent(): number } {
  const [busyBefore, allBefore] = machineMs();
  const ownBefore = cpuMsOf(process.pid);
  return {
    busyElsewherePercent: () => {
      const [busy, all] = machineMs();
      const elsewhere = busy - busyBefore - (cpuMsOf(process.pid) - ownBefore);
      return Math.max(0, (100 * elsewhere) / (all - allBefore));
    },
  };
}

/** Processor time of all processors since boot: busy, and busy with idle. */
function machineMs(): readonly [number, number] {
  const line = (read('/proc/stat') ?? '').split('\n', 1)[0] ?? '';
  // user, nice, system, idle, iowait, irq, softirq, steal
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) * TICK_MS);
  const busy = user + nice + system + irq + softirq + steal;
  return [busy, busy + idle + iowait];
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
