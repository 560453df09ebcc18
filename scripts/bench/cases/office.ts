// The cases of Office Mode: what the reads of the whole house cost, in an empty store and in one with weeks of work.
import { makeCaller } from '../calls.ts';
import type { Figures, Scale } from './turns.ts';
import { fillOffice } from '../stores/fill-office.ts';
import { callInLoop, quantile, type Target } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';

const CALLS_OF_SESSION = 10;
/** Of the model calls. */
const OF_TODAY = 0.05;
const OFFICE = '/api/v1/office-mode';
/** The busiest team of the house, and users without a team. */
const READS = {
  snapshot: () => `${OFFICE}/snapshot?limit=96`,
  todayTeam: (team: string) => `${OFFICE}/teams/${team}/today-active-runs?limit=50`,
  todayNobody: () => `${OFFICE}/teams/__unassigned__/today-active-runs?limit=50`,
} as const;

/** Requests each read repeatedly. Adds failures to `failures`. */
export async function measureOffice(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch);
  const { daemon } = errand;
  try {
    await daemon.admin('POST', '/api/v1/teams', { name: 'Empty' });
    const wish = { user: daemon.adminName, scope: 'admin', name: 'office' };
    const { key } = (await daemon.admin('POST', '/api/v1/keys', wish)) as { key: string };
    const measured = { errand, headers: { authorization: `Bearer ${key}` }, scale, failures };
    const empty = await measureReads(measured, 'Empty');
    await daemon.stop();
    const calls = scale.sessions * CALLS_OF_SESSION;
    const house = { teams: 20, users: 200, sessions: scale.sessions, calls, callsToday: calls * OF_TODAY, live: 50 };
    fillOffice(daemon.dataDir, { ...house, now: Date.now() });
    await daemon.restart();
    return {
      officeCalls: calls,
      officeCallsToday: house.callsToday,
      ...empty,
      ...(await measureReads(measured, 'Full')),
    };
  } finally {
    await errand.close();
  }
}

interface Measured {
  readonly errand: ErrandServer;
  readonly headers: Target['headers'];
  readonly scale: Scale;
  readonly failures: string[];
}

async function measureReads({ errand, headers, scale, failures }: Measured, where: 'Empty' | 'Full'): Promise<Figures> {
  const { daemon, target } = errand;
  const teams = (await daemon.admin('GET', '/api/v1/teams')) as { items: { id: string }[] };
  const caller = makeCaller({ ...target, url: daemon.url, headers }, 1);
  const figures: Record<string, number> = {};
  for (const [name, pathOf] of Object.entries(READS)) {
    const path = pathOf(teams.items.at(-1)!.id);
    const limit = { forMs: Number.POSITIVE_INFINITY, atMost: scale.single };
    const read = () => callInLoop(1, limit, () => caller.call({ method: 'GET', path, expect: 200 }));
    await read();
    const before = cpuMsOf(errand.pid());
    let times: number[] = [];
    const { maxMs } = await errand.loopDelay(async () => {
      const { results, failures: failed } = await read();
      failures.push(...failed);
      times = results.map(({ tookMs }) => tookMs);
    });
    figures[`${name}${where}CpuMs`] = (cpuMsOf(errand.pid()) - before) / times.length;
    figures[`${name}${where}P99Ms`] = quantile(times, 0.99);
    figures[`${name}${where}PauseMs`] = maxMs;
  }
  await caller.close();
  return figures;
}
