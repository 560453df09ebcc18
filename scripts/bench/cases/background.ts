// The cases of background runs, against the real daemon: submitting them, claiming them, and looking them up while many wait.
import Connection from 'better-sqlite3';
import { waitFor } from '../../../test/support/time/wait-for.ts';
import type { Caller } from '../calls.ts';
import { makeCaller } from '../calls.ts';
import { measurePolled } from './polled.ts';
import type { Figures, Scale } from './scale.ts';
import { fillStore, storeFileOf } from '../stores/fill-store.ts';
import type { Limit } from '../load.ts';
import { callInLoop, quantile } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import type { ErrandServer } from '../servers/start.ts';
import { startErrand } from '../servers/start.ts';

/**
 * Slots for a queue of 160,000; threads are created only for runs that execute. `executing` is for the one key. A stop does
 * not wait for the run that never ends.
 */
const settingsFor = (executing: number): string => `
streams: { drain_seconds: 0 }
workers: { threads: 16, runs_per_thread: 1024 }
limits: { connections_per_address: 1000 }
background:
  max_unfinished_per_key: 1000000
  max_unfinished_per_user: 1000000
  max_executing_per_key: ${executing}
  polls_per_second: 1000000
`;

const CLIENTS = [1, 32, 256] as const;
const CLIENTS_AT_ONCE = 32;
/** A model that stays silent until the cases are over, so that the one run that may execute keeps running. */
const HOLD = '[[first=3600000]]';

interface Bench {
  readonly errand: ErrandServer;
  readonly scale: Scale;
  readonly failures: string[];
}

interface Submitted {
  readonly background_results: { readonly run_id: string; readonly session_id: string; readonly status: string };
}

/** Runs every case on a separate daemon. Adds failures to `failures`. */
export async function measureBackground(
  modelUrl: string,
  scratch: string,
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch, settingsFor(1_000_000));
  try {
    const bench = { errand, scale, failures };
    const polled = await measurePolled(errand, scale, failures);
    return { ...polled, ...(await startsAtOnce(bench)), ...(await waits(bench)) };
  } finally {
    await errand.close();
  }
}

/** Runs that find a free slot: how long until they are claimed. */
async function startsAtOnce({ errand, scale, failures }: Bench): Promise<Figures> {
  const caller = makeCaller(errand.target, 1);
  const since = Date.now();
  const submitted = await callInLoop(1, { forMs: Number.POSITIVE_INFINITY, atMost: scale.single }, () =>
    submit(caller, '[[text=Done.]]'),
  );
  failures.push(...submitted.failures);
  await waitFor(() => countUnfinished(errand) === 0, { timeoutMs: 60_000, what: 'every background run has ended' });
  await caller.close();
  const { claimDelayP50Ms = Number.NaN, claimDelayP99Ms = Number.NaN } = claimDelays(errand, 'background', since);
  return { backgroundClaimP50Ms: claimDelayP50Ms, backgroundClaimP99Ms: claimDelayP99Ms };
}

/** Runs that wait behind the one that executes: how fast they are accepted, and looked up. */
async function waits(bench: Bench): Promise<Figures> {
  const { errand, scale } = bench;

  await errand.restartWith(settingsFor(1));

  const caller = makeCaller(errand.target, 1);
  // The daemon listens a little before its workers are ready.
  const held = await waitFor(() => submit(caller, HOLD), { what: 'the first run is accepted' });
  await waitFor(async () => (await look(caller, runIdOf(held.body))).status === 'running', {
    what: 'one run executes',
  });
  const figures: Figures = {};
  await warmUp(bench);
  for (const clients of CLIENTS) {
    emptyQueue(errand);
    Object.assign(figures, await submissions(bench, `submit${clients}`, clients));
  }
  emptyQueue(errand);
  const first = await submit(caller, HOLD);
  await caller.close();

  await errand.daemon.stop();

  fillStore(errand.daemon.dataDir, (first.body as Submitted).background_results.session_id, scale.queued - 1);

  await errand.restartWith(settingsFor(1));

  Object.assign(figures, await lookUps(bench, runIdOf(first.body)));
  await warmUp(bench);
  Object.assign(figures, await submissions(bench, 'submitBehind', CLIENTS_AT_ONCE));
  return figures;
}

/** Submits until the daemon's code for it is compiled. */
async function warmUp({ errand, scale, failures }: Bench): Promise<void> {
  const caller = makeCaller(errand.target, CLIENTS_AT_ONCE);
  const limit = { forMs: scale.warmMs, atMost: scale.warmRuns };
  failures.push(...(await callInLoop(CLIENTS_AT_ONCE, limit, () => submit(caller, HOLD))).failures);
  await caller.close();
}

async function submissions({ errand, scale, failures }: Bench, name: string, clients: number): Promise<Figures> {
  const caller = makeCaller(errand.target, clients);
  const cpuBefore = cpuMsOf(errand.pid());
  const submitted = await callInLoop(clients, { forMs: scale.submitMs }, () => submit(caller, HOLD));
  const cpuMs = cpuMsOf(errand.pid()) - cpuBefore;
  failures.push(...submitted.failures);
  await caller.close();
  return {
    [`${name}PerSecond`]: submitted.results.length / submitted.seconds,
    [`${name}P99Ms`]: quantile(tookMs(submitted.results), 0.99),
    [`${name}CpuMs`]: cpuMs / submitted.results.length,
  };
}

async function lookUps({ errand, scale, failures }: Bench, firstId: string): Promise<Figures> {
  const waiting = waitingRuns(errand);
  const caller = makeCaller(errand.target, CLIENTS_AT_ONCE);
  let [place, seen] = [0, 0];
  /** Strides through the whole queue, so that every place counts equally. */
  const next = (): string => waiting[(place = (place + 7_919) % waiting.length)] ?? firstId;
  const ask = (id: () => string) => async () => {
    const polled = await pollOf(caller, id());
    if ((polled.body as Submitted).background_results.status === 'queued') seen += 1;
    return polled;
  };
  const repeat = async (clients: number, limit: Limit, id: () => string) => {
    const outcome = await callInLoop(clients, limit, ask(id));
    failures.push(...outcome.failures);
    return outcome;
  };
  await repeat(CLIENTS_AT_ONCE, { forMs: scale.warmMs, atMost: scale.warmRuns }, next);
  const first = await repeat(1, { forMs: scale.submitMs / 2 }, () => firstId);
  const any = await repeat(1, { forMs: scale.submitMs / 2 }, next);
  const many = await repeat(CLIENTS_AT_ONCE, { forMs: scale.submitMs / 2 }, next);
  await caller.close();
  if (seen === 0) failures.push('No look-up found a run that waits.');
  return {
    pollFirstP50Ms: quantile(tookMs(first.results), 0.5),
    pollFirstP99Ms: quantile(tookMs(first.results), 0.99),
    pollP50Ms: quantile(tookMs(any.results), 0.5),
    pollP99Ms: quantile(tookMs(any.results), 0.99),
    pollsPerSecond: many.results.length / many.seconds,
  };
}

let submissionsMade = 0;

function submit(caller: Caller, text: string) {
  submissionsMade += 1;
  return caller.call({
    method: 'POST',
    path: '/openapi/v1/messages',
    expect: 202,
    body: {
      model: 'scripted',
      background: true,
      idempotency_key: `bench-${submissionsMade}`,
      messages: [{ role: 'user', content: text }],
    },
  });
}

const pollOf = (caller: Caller, runId: string) =>
  caller.call({ method: 'GET', path: `/openapi/v1/runs/${runId}`, expect: 200 });

async function look(caller: Caller, runId: string) {
  return ((await pollOf(caller, runId)).body as Submitted).background_results;
}

const runIdOf = (body: unknown): string => (body as Submitted).background_results.run_id;
const tookMs = (results: readonly { readonly tookMs: number }[]): number[] => results.map((result) => result.tookMs);

/** From a run's acceptance to the journal's first `run.started`, of the runs accepted since a moment. Whole milliseconds. */
export function claimDelays(errand: ErrandServer, kind: 'background' | 'immediate', sinceAt: number): Figures {
  const delays = inStore(errand, (database) =>
    database
      .prepare(
        `SELECT (SELECT min(created_at) FROM events
           WHERE run_seq = runs.seq AND type <> 'content_block_delta' AND type = 'run.started') - created_at
         FROM runs WHERE schedule_mode = ? AND started_at IS NOT NULL AND created_at >= ?`,
      )
      .pluck()
      .all(kind, sinceAt),
  ) as number[];
  return { claimDelayP50Ms: quantile(delays, 0.5), claimDelayP99Ms: quantile(delays, 0.99) };
}

function countUnfinished(errand: ErrandServer): number {
  return inStore(errand, (database) =>
    database.prepare("SELECT count(*) FROM runs WHERE status IN ('queued', 'running', 'finalizing')").pluck().get(),
  ) as number;
}

function waitingRuns(errand: ErrandServer): string[] {
  return inStore(errand, (database) =>
    database.prepare("SELECT id FROM runs WHERE status = 'queued' ORDER BY seq").pluck().all(),
  ) as string[];
}

/** Removes every waiting run from the queue directly in the database, so that the next case begins with an empty one. */
function emptyQueue(errand: ErrandServer): void {
  inStore(errand, (database) =>
    database.exec("UPDATE runs SET status = 'canceled', ready = 0, finished_at = created_at WHERE status = 'queued'"),
  );
}

function inStore<Answer>({ daemon }: ErrandServer, look: (database: Connection.Database) => Answer): Answer {
  const database = new Connection(storeFileOf(daemon.dataDir), { timeout: 10_000 });
  try {
    return look(database);
  } finally {
    database.close();
  }
}
