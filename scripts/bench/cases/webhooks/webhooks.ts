// What webhooks cost: a run that none, one or ten of them want, and a delivery, compared with a bare loop over undici.
import { systemClock } from '../../../../src/domain/clock.ts';
import type { EventType } from '../../../../src/domain/sessions/journal-event.ts';
import { makeLog } from '../../../../src/log/log.ts';
import { makePlanner } from '../../../../src/webhooks/planner.ts';
import { callInLoop, closedLoop, oneByOne, pause, quantile, type Shot } from '../../load.ts';
import { cpuMsOf } from '../../process-figures.ts';
import {
  type ErrandServer,
  type MeasuredServer,
  startBareSender,
  startErrand,
  startHookSink,
} from '../../servers/start.ts';
import { addPending, type HookRows, watchRows } from '../../stores/webhook-rows.ts';
import type { Figures, Scale } from '../scale.ts';
import { waitFor } from '../../../../test/support/time/wait-for.ts';

export const HOOK_YAML = `workers: { threads: 2, runs_per_thread: 128 }
egress: { allow: [{ cidr: 127.0.0.1/32, for: [webhook] }] }
`;
const SECRET = 'the secret of the benchmark';
const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const CLIENTS = 16;
const SETTLE_MS = 1_000;
const NOTICES = 5_000_000;
const TEN = 10;
/** Enough that 64 are in flight, the most that there can be. */
const SENDERS = 16;
const IN_FLIGHT = 64;
/** The deliveries are due so long after the start, which has its own work. */
const HEAD_START_MS = 8_000;

interface Ports {
  readonly living: readonly string[];
  readonly hanging: string;
}

/** What has arrived since it was last asked; the delays are from the event's `occurred_at`. */
export interface Taken {
  readonly count: number;
  readonly delaysMs: readonly number[];
}

/** A daemon with its receivers. */
interface Fixture {
  readonly errand: ErrandServer;
  readonly sink: MeasuredServer;
  readonly ports: Ports;
  readonly rows: HookRows;
}

export const takenBy = async ({ target }: MeasuredServer) =>
  (await fetch(`${target.url}/taken`)).json() as Promise<Taken>;
export const portsOf = async ({ target }: MeasuredServer) =>
  (await fetch(`${target.url}/ports`)).json() as Promise<Ports>;

export interface HookRequest {
  readonly url: string;
  readonly user?: string;
}

/** Creates a webhook for the end of every run, disabled; of the system unless there is a user. */
export async function createHook(
  { daemon }: Pick<ErrandServer, 'daemon'>,
  { url, user }: HookRequest,
): Promise<number> {
  const owner = user === undefined ? { owner_scope: 'system' } : { user };
  const fields = { name: url, url, events: ['session.completed'], secret: SECRET, enabled: false, ...owner };
  return ((await daemon.admin('POST', '/api/v1/webhooks', fields)) as { id: number }).id;
}

export async function enable(
  { daemon }: Pick<ErrandServer, 'daemon'>,
  ids: readonly number[],
  enabled = true,
): Promise<void> {
  for (const id of ids) await daemon.admin('PATCH', `/api/v1/webhooks/${id}`, { enabled });
}

const drained = (rows: HookRows) => waitFor(() => rows.left() === 0, { everyMs: 50, timeoutMs: 300_000 });

/** Measures runs, the way of an event, and deliveries. */
export async function measureWebhooks(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const sink = await startHookSink(scratch);
  const errand = await startErrand(modelUrl, scratch, HOOK_YAML);
  const rows = watchRows(errand.daemon.dataDir);
  const fixture = { errand, sink, rows, ports: await portsOf(sink) };
  try {
    const runs = { ...(await measureRuns(fixture, scale, failures)), hookNoticeNs: await measureNotice() };
    return {
      ...runs,
      ...(await measureWay(fixture, scale, failures)),
      ...(await measureDeliveries(fixture, scale, scratch)),
    };
  } finally {
    rows.close();
    await Promise.all([errand.close(), sink.close()]);
  }
}

type Phase = 'None' | 'Other' | 'One' | 'Ten';
/** There and back, so that what grows with the store costs each the same. */
const PHASES: readonly Phase[] = ['None', 'Other', 'One', 'Ten', 'Ten', 'One', 'Other', 'None'];

async function measureRuns(fixture: Fixture, scale: Scale, failures: string[]): Promise<Figures> {
  const { errand, sink, ports, rows } = fixture;
  await errand.daemon.admin('POST', '/api/v1/users', { username: 'nobody' });
  const ten = await Promise.all(
    Array.from({ length: TEN }, (_, i) => createHook(errand, { url: ports.living[i % 4]! })),
  );
  const other = await createHook(errand, { url: ports.living[0]!, user: 'nobody' });
  const enabledIn = { None: [], Other: [other], One: ten.slice(0, 1), Ten: ten } as const;
  const sums = new Map<Phase, { runs: number; cpuMs: number }>();
  await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.warmMs, atMost: scale.warmRuns });
  for (const phase of PHASES) {
    await enable(errand, enabledIn[phase]);
    await pause(SETTLE_MS);
    const before = cpuMsOf(errand.pid());
    const volley = await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.loadMs });
    failures.push(...volley.failures);
    await drained(rows);
    await pause(SETTLE_MS);
    const known = sums.get(phase) ?? { runs: 0, cpuMs: 0 };
    const cpuMs = known.cpuMs + cpuMsOf(errand.pid()) - before;
    sums.set(phase, { runs: known.runs + volley.results.length, cpuMs });
    await enable(errand, enabledIn[phase], false);
    const { count } = await takenBy(sink);
    const expected = volley.results.length * (phase === 'Other' ? 0 : enabledIn[phase].length);
    if (count !== expected) failures.push(`${count} of ${expected} webhooks arrived in the phase ${phase}`);
  }
  const each = (phase: Phase) => sums.get(phase)!.cpuMs / sums.get(phase)!.runs;
  return {
    hookNoneCpuMs: each('None'),
    hookOtherCostMs: each('Other') - each('None'),
    hookOneCostMs: each('One') - each('None'),
    hookTenCostMs: each('Ten') - each('None'),
  };
}

/** What an event costs that no webhook wants, in this process: the loop's own work is part of the figure. */
async function measureNotice(): Promise<number> {
  const nothing = { more: false, webhookIds: new Set<number>(), wanted: new Set<EventType>(), faults: [] };
  const none = { left: [], webhookIds: nothing.webhookIds };
  const held = { releaseHeld: async () => none, listHeld: async () => [] };
  const planner = makePlanner({
    store: { deliveries: { plan: async () => ({ ...nothing, held: [] }), ...held } },
    hasPeers: false,
    clock: systemClock,
    log: makeLog({ level: 'fatal' }),
  });
  planner.wake();
  await planner.settled();
  const notices = () => {
    for (let i = 0; i < NOTICES; i += 1) planner.notice('run.done');
  };
  notices();
  const startedAt = performance.now();
  notices();
  const ns = ((performance.now() - startedAt) * 1_000_000) / NOTICES;
  await planner.stop();
  return ns;
}

/** From the commit of the event to the receiver: alone, and under load. */
async function measureWay({ errand, sink, ports, rows }: Fixture, scale: Scale, failures: string[]): Promise<Figures> {
  const id = await createHook(errand, { url: ports.living[0]! });
  await enable(errand, [id]);
  await oneByOne(errand.target, ANSWER, 20);
  await drained(rows);
  await takenBy(sink);
  const alone = await oneByOne(errand.target, ANSWER, scale.single);
  await drained(rows);
  const quiet = await takenBy(sink);
  const loaded = await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.loadMs });
  await drained(rows);
  const busy = await takenBy(sink);
  failures.push(...alone.failures, ...loaded.failures);
  await enable(errand, [id], false);
  return {
    hookWayP50Ms: quantile(quiet.delaysMs, 0.5),
    hookWayP99Ms: quantile(quiet.delaysMs, 0.99),
    hookWayBusyP50Ms: quantile(busy.delaysMs, 0.5),
    hookWayBusyP99Ms: quantile(busy.delaysMs, 0.99),
  };
}

/** Deliveries that are due at once, and as many requests of a bare loop. */
async function measureDeliveries(
  { errand, sink, ports, rows }: Fixture,
  scale: Scale,
  scratch: string,
): Promise<Figures> {
  const count = scale.queued * 2;
  const ids = await Promise.all(
    Array.from({ length: SENDERS }, (_, i) => createHook(errand, { url: ports.living[i % 4]! })),
  );
  await enable(errand, ids);
  await errand.daemon.stop();
  addPending(errand.daemon.dataDir, { webhookIds: ids, count: count / SENDERS, dueAt: Date.now() + HEAD_START_MS });
  await errand.daemon.restart();
  await pause(HEAD_START_MS - 1_000 - errand.daemon.startMs());
  await takenBy(sink);
  const before = cpuMsOf(errand.pid());
  await waitFor(() => rows.left() < count, { everyMs: 5 });
  const startedAt = performance.now();
  await drained(rows);
  const seconds = (performance.now() - startedAt) / 1_000;
  await pause(SETTLE_MS);
  const cpuMs = cpuMsOf(errand.pid()) - before;

  const bare = await startBareSender(scratch);
  const order = { urls: ports.living, inFlight: IN_FLIGHT, body: rows.aBody() };
  const send = async (some: number) => {
    const { results } = await callInLoop(1, { forMs: 600_000, atMost: 1 }, () =>
      fetch(bare.target.url, { method: 'POST', body: JSON.stringify({ ...order, count: some }) }),
    );
    if (results[0]?.ok !== true) throw new Error('The bare sender failed.');
  };
  await send(count / 10);
  const [bareBefore, bareAt] = [cpuMsOf(bare.pid()), performance.now()];
  await send(count);
  const bareSeconds = (performance.now() - bareAt) / 1_000;
  const bareCpuMs = cpuMsOf(bare.pid()) - bareBefore;
  await bare.close();
  await enable(errand, ids, false);
  return {
    hooksPerSecond: count / seconds,
    hookCpuMs: cpuMs / count,
    hookBarePerSecond: count / bareSeconds,
    hookBareCpuMs: bareCpuMs / count,
    hookRatio: cpuMs / bareCpuMs,
  };
}
