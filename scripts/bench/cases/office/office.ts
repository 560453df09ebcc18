// The cases of Office Mode: what its reads cost, in an empty store and in one with weeks of work.
import { makeCaller } from '../../calls.ts';
import type { Figures, Scale } from '../scale.ts';
import { fillOffice } from '../../stores/fill-office.ts';
import { fillSession } from '../../stores/fill-store.ts';
import type { Target } from '../../load.ts';
import { type ErrandServer, startErrand } from '../../servers/start.ts';
import { measureRepeated } from '../reads.ts';

const CALLS_OF_SESSION = 10;
/** Of the model calls. */
const OF_TODAY = 0.05;
const OFFICE = '/api/v1/office-mode';
/** Turns of the session that is read. */
const TURNS = 200;

/** What is read: of the busiest team, and of a long session among all the others. */
interface Locations {
  readonly team: string;
  readonly session: string;
}

type Reads = Readonly<Record<string, (locations: Locations) => string>>;

const OF_INSTALLATION: Reads = {
  snapshot: () => `${OFFICE}/snapshot?limit=96`,
  todayTeam: ({ team }) => `${OFFICE}/teams/${team}/today-active-runs?limit=50`,
  todayNobody: () => `${OFFICE}/teams/__unassigned__/today-active-runs?limit=50`,
};

const OF_SESSION: Reads = {
  session: ({ session }) => `${OFFICE}/sessions/${session}`,
  detail: ({ session }) => `${OFFICE}/sessions/${session}/detail`,
  summary: ({ session }) => `${OFFICE}/sessions/${session}/summary`,
  messages: ({ session }) => `${OFFICE}/sessions/${session}/messages-with-files`,
  streamEvents: ({ session }) => `${OFFICE}/sessions/${session}/stream-events`,
  officeRuns: ({ session }) => `${OFFICE}/office-runs/session/${session}`,
  rounds: ({ session }) => `${OFFICE}/sessions/${session}/run-rounds`,
  context: ({ session }) => `${OFFICE}/sessions/${session}/context-usage`,
};

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
    const request = { user: daemon.adminName, scope: 'admin', name: 'office' };
    const { key } = (await daemon.admin('POST', '/api/v1/keys', request)) as { key: string };
    const measured = { errand, headers: { authorization: `Bearer ${key}` }, scale, failures };
    const empty = await measureReads(measured, OF_INSTALLATION, { where: 'Empty', session: '' });
    await daemon.stop();
    const calls = scale.sessions * CALLS_OF_SESSION;
    const fixture = { teams: 20, users: 200, sessions: scale.sessions, calls, callsToday: calls * OF_TODAY, live: 50 };
    fillOffice(daemon.dataDir, { ...fixture, now: Date.now() });
    await daemon.restart();
    const session = await longSession(errand);
    return {
      officeCalls: calls,
      officeCallsToday: fixture.callsToday,
      ...empty,
      ...(await measureReads(measured, OF_INSTALLATION, { where: 'Full', session })),
      ...(await measureReads(measured, OF_SESSION, { where: 'Full', session })),
    };
  } finally {
    await errand.close();
  }
}

/** A session of many turns; its id. */
async function longSession({ daemon }: ErrandServer): Promise<string> {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Write it. [[tools=1]] [[deltas=20]]' }] }),
  });
  const [session, run] = ['x-session-id', 'x-run-id'].map((name) => response.headers.get(name) ?? '');
  if (!response.ok) throw new Error(`No session: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
  await daemon.stop();
  fillSession(daemon.dataDir, run!, TURNS - 1);
  await daemon.restart();
  return session!;
}

interface Measured {
  readonly errand: ErrandServer;
  readonly headers: Target['headers'];
  readonly scale: Scale;
  readonly failures: string[];
}

async function measureReads(
  { errand, headers, scale, failures }: Measured,
  reads: Reads,
  { where, session }: { readonly where: 'Empty' | 'Full'; readonly session: string },
): Promise<Figures> {
  const { daemon, target } = errand;
  const teams = (await daemon.admin('GET', '/api/v1/teams')) as { items: { id: string }[] };
  const caller = makeCaller({ ...target, url: daemon.url, headers }, 1);
  const repeated = { errand, caller, times: scale.single, failures };
  const figures: Figures = {};
  for (const [name, pathOf] of Object.entries(reads)) {
    const path = pathOf({ team: teams.items.at(-1)!.id, session });
    Object.assign(figures, await measureRepeated(repeated, `${name}${where}`, { method: 'GET', path, expect: 200 }));
  }
  await caller.close();
  return figures;
}
