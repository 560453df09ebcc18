// The scheduler with thousands of tasks: what it costs while none is due, and how punctual it is.
import { waitFor } from '../../../test/support/time/wait-for.ts';
import { makeCaller } from '../calls.ts';
import { pause, quantile } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import { fillTasks, type FiringRows, makeDue, watchFirings } from '../stores/task-rows.ts';
import type { Figures, Scale } from './scale.ts';
import { measureIdle } from './turns.ts';

const TASKS = 10_000;
const USERS = 100;
/** Several times the shortest time at which the kernel counts. */
const IDLE_FACTOR = 4;
/** How long a start has work of its own, which would hide what the tasks cost. */
const START_MS = 10_000;
/** Tasks that are due one after the other, and tasks that are due at once. */
const SPREAD = { count: 500, everyMs: 40 } as const;
const AT_ONCE = 1_000;
/** The first is due so long after the start, which has its own work. */
const HEAD_START_MS = 8_000;
/** It fires once a year; never while it is measured, unless it is made due. */
const YEARLY = { cron: '0 0 1 1 *', timezone: 'UTC', enabled: true, overlap: 'queue' } as const;

interface Bench {
  readonly errand: ErrandServer;
  readonly scale: Scale;
  readonly failures: string[];
  readonly rows: FiringRows;
}

/** Runs every case on a separate daemon. Adds failures to `failures`. */
export async function measureSchedules(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch);
  const { daemon } = errand;
  const rows = watchFirings(daemon.dataDir);
  const bench = { errand, scale, failures, rows };
  try {
    for (let i = 0; i < USERS; i += 1) await daemon.admin('POST', '/api/v1/users', { username: `user${i}` });
    const none = await idleOf(bench);
    const work = { name: 'Tides', prompt: 'Tell it. [[text=Done.]]', ...YEARLY };
    const made = (await daemon.admin('POST', '/api/v1/scheduled-tasks', work)) as { scheduled_task_id: string };
    await daemon.stop();
    fillTasks(daemon.dataDir, made.scheduled_task_id, TASKS);
    await daemon.restart();
    return {
      tasks: TASKS,
      tasksNoneIdleCpuMsPerSecond: none,
      tasksIdleCpuMsPerSecond: await idleOf(bench),
      ...(await measureFirings(bench, 'spread', SPREAD)),
      ...(await measureFirings(bench, 'burst', { count: AT_ONCE, everyMs: 0 })),
    };
  } finally {
    rows.close();
    await errand.close();
  }
}

async function idleOf({ errand, scale }: Bench): Promise<number> {
  await pause(START_MS);
  const [idle] = await measureIdle([errand], scale.idleMs * IDLE_FACTOR);
  return idle!['idleCpuMsPerSecond']!;
}

/** Makes tasks due, and waits until their runs have ended. */
async function measureFirings(
  { errand, failures, rows }: Bench,
  name: 'spread' | 'burst',
  { count, everyMs }: { readonly count: number; readonly everyMs: number },
): Promise<Figures> {
  const { daemon } = errand;
  await daemon.stop();
  const from = Date.now() + HEAD_START_MS;
  makeDue(daemon.dataDir, { count, from, everyMs });
  await daemon.restart();
  const caller = makeCaller({ name: 'errand', url: daemon.url, headers: {} }, 1);
  await pause(from - Date.now() - 1_000);
  const before = cpuMsOf(errand.pid());
  let slowestMs = 0;
  const { maxMs, maxBusyMs } = await errand.loopDelay(async () => {
    await waitFor(
      async () => {
        const { tookMs } = await caller.call({ method: 'GET', path: '/healthz', expect: 200 });
        slowestMs = Math.max(slowestMs, tookMs);
        return rows.delaysMs(from).length >= count && rows.unfinished() === 0;
      },
      { everyMs: 50, timeoutMs: 300_000, what: 'every firing has ended' },
    );
  });
  await caller.close();
  const delaysMs = rows.delaysMs(from);
  if (delaysMs.length !== count) failures.push(`${delaysMs.length} of ${count} tasks have fired`);
  return {
    [`${name}Firings`]: count,
    [`${name}DelayP50Ms`]: quantile(delaysMs, 0.5),
    [`${name}DelayP99Ms`]: quantile(delaysMs, 0.99),
    [`${name}DelayMaxMs`]: Math.max(...delaysMs),
    [`${name}CpuMs`]: (cpuMsOf(errand.pid()) - before) / count,
    [`${name}PauseMs`]: maxMs,
    [`${name}BusyMs`]: maxBusyMs,
    [`${name}SlowestMs`]: slowestMs,
  };
}
