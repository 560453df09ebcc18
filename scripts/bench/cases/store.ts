// The cases of the store and of credentials, in this process: the cost of a claim with many runs that may not start, and of
// identifying a caller.
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NO_CAPABILITIES } from '../../../src/domain/capabilities/capability-config.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Run } from '../../../src/domain/sessions/run.ts';
import type { ApiKey, User } from '../../../src/domain/people/user.ts';
import { openMasterKey } from '../../../src/files/master-key.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeAudit } from '../../../src/operations/audit/audit.ts';
import { makeLoginTokens } from '../../../src/operations/people/login-tokens.ts';
import { makeAuthenticate } from '../../../src/operations/people/authenticate.ts';
import { makeResolveKey } from '../../../src/operations/people/resolve-key.ts';
import { makeKey } from '../../../src/operations/people/secrets.ts';
import type { NewTurn } from '../../../src/store/lifecycle/accept-run.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Figures, Scale } from './scale.ts';
import { fillSession, fillStore } from '../stores/fill-store.ts';
import { callInLoop, quantile } from '../load.ts';

const ORDER = {
  node: 'here',
  leaseMs: 60_000,
  background: { slots: 255, maxExecutingPerKey: 2 },
  modelFor: () => 'scripted',
};
const LIMITS = { maxUnfinishedPerKey: 1_000_000, maxUnfinishedPerUser: 1_000_000, capacity: 5 };
/** Runs that are claimed in one commit. */
const TOGETHER = 100;
const HAND_OVERS = 50;

interface Fixture {
  readonly store: Store;
  readonly user: User;
  readonly key: ApiKey;
  readonly secret: string;
}

/** Runs every case on a store in `scratch`. */
export async function measureStore(scratch: string, scale: Scale): Promise<Figures> {
  const directory = join(scratch, 'store');
  mkdirSync(directory);
  const open = (): Store =>
    openStore({ kind: 'sqlite', file: join(directory, 'errand.db') }, systemClock, { renderBody });
  let store = open();
  try {
    const fixture = await furnish(store, 'mara');
    const figures: Figures = { ...(await credentials(fixture, scratch, scale)) };
    const session = await crowdSession(fixture);
    const blocked = await blockBackground(await furnish(store, 'olaf'));
    const alone = await handOvers(fixture, session.running);
    Object.assign(figures, await claims(fixture, 'Alone'), { handOverAloneP50Ms: alone.p50Ms });

    await store.close();
    fillSession(directory, session.last.id, scale.queued);
    fillStore(directory, blocked.sessionId, scale.queued);
    store = open();
    const crowded = { ...fixture, store };
    const behind = await handOvers(crowded, alone.running);
    return Object.assign(figures, await claims(crowded, 'Behind'), { handOverBehindP50Ms: behind.p50Ms });
  } finally {
    await store.close();
  }
}

async function furnish(store: Store, username: string): Promise<Fixture> {
  const user = await store.users.create({
    username,
    fullName: username,
    department: 'Lab',
    role: 'user',
    teamId: null,
    functionalRole: null,
    scenario: null,
    passwordHash: '',
  });
  const { text, id, lastFour, secretSha256 } = makeKey();
  const key = await store.keys.create({
    id,
    userSeq: user.seq,
    name: '',
    scope: 'global',
    lastFour,
    secretSha256,
    model: null,
    target: 'free',
    projectId: null,
    expiresAt: null,
  });
  return { store, user, key, secret: text };
}

/** A session with one run that executes and others that wait behind it. */
async function crowdSession(fixture: Fixture): Promise<{ running: ClaimedRun; last: Run }> {
  const first = await accept(fixture);
  const others = Array.from({ length: 2 * HAND_OVERS }, () => accept(fixture, { sessionId: first.sessionId }));
  const last = (await Promise.all(others)).at(-1)!;
  return { running: await claimOne(fixture.store), last };
}

/** A background run that may not start, because its key has reached its limit of executing runs. Returns it. */
async function blockBackground(fixture: Fixture): Promise<Run> {
  const background = { payload: null, limits: LIMITS };
  const runs = await Promise.all([0, 1, 2].map((n) => accept(fixture, { background, idempotencyKey: `blocked-${n}` })));
  await claimTimed(fixture.store, 3, 2);
  return runs[2]!;
}

/** The cost of looking for a run when none may start, and of claiming each that may, in microseconds. */
async function claims(fixture: Fixture, where: 'Alone' | 'Behind'): Promise<Figures> {
  const { store } = fixture;
  const [nothing, together]: [number[], number[]] = [[], []];
  for (let i = 0; i < 200; i += 1) nothing.push((await claimTimed(store, 1, 0)).tookMs);
  for (let i = 0; i < 10; i += 1) {
    await Promise.all(Array.from({ length: TOGETHER }, () => accept(fixture)));
    const { tookMs, runs } = await claimTimed(store, TOGETHER, TOGETHER);
    together.push(tookMs);
    await Promise.all(runs.map((run) => end(store, run)));
  }
  return {
    [`claimNothing${where}Us`]: quantile(nothing, 0.5) * 1000,
    [`claim${where}Us`]: (quantile(together, 0.5) * 1000) / TOGETHER,
  };
}

/** Ends the session's run and claims the next, repeatedly: the time until the next may begin. */
async function handOvers({ store }: Fixture, first: ClaimedRun): Promise<{ p50Ms: number; running: ClaimedRun }> {
  const times: number[] = [];
  let running = first;
  for (let i = 0; i < HAND_OVERS; i += 1) {
    const startedAt = performance.now();
    await end(store, running);
    const next = await claimOne(store);
    times.push(performance.now() - startedAt);
    if (next.sessionId !== running.sessionId) throw new Error('The run of another session was claimed.');
    running = next;
  }
  return { p50Ms: quantile(times, 0.5), running };
}

async function claimOne(store: Store): Promise<ClaimedRun> {
  const [run] = (await claimTimed(store, 1, 1)).runs;
  return run!;
}

async function claimTimed(store: Store, limit: number, expected: number) {
  const startedAt = performance.now();
  const claimed = await store.runs.claim({ ...ORDER, limit });
  const tookMs = performance.now() - startedAt;
  if (claimed.length !== expected) throw new Error(`${claimed.length} runs were claimed in place of ${expected}.`);
  return { tookMs, runs: claimed.map(({ run }) => run) };
}

/** Both moves in one commit. */
async function end(store: Store, { sessionSeq, seq, attempt, workedMs }: ClaimedRun): Promise<void> {
  const fence = { sessionSeq, runSeq: seq, attempt, workedMs };
  const ended = await Promise.all([
    store.runs.finalize(fence, { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' }),
    store.runs.settle(fence),
  ]);
  if (!ended.every(Boolean)) throw new Error('A run could not be ended.');
}

async function accept({ store, user, key }: Fixture, over: Partial<NewTurn> = {}): Promise<Run> {
  const text = 'Tell me of tides.';
  const acceptance = await store.runs.accept({
    user,
    key,
    protocol: 'messages',
    requestedModel: 'scripted',
    includeUsage: false,
    outputSchema: null,
    resultInContent: false,
    sessionId: null,
    sessionSeq: null,
    title: text,
    setup: { target: key.target, capabilityConfig: NO_CAPABILITIES, orchestration: null },
    idempotencyKey: null,
    content: [{ type: 'text', text }],
    preview: text,
    attachments: [],
    userQuotaBytes: 0,
    allDrain: false,
    start: null,
    background: null,
    ...over,
  });
  if (!('run' in acceptance)) throw new Error(`A turn was refused: ${acceptance.kind}.`);
  return acceptance.run;
}

/** How many credentials of each kind are checked in a second. */
async function credentials({ store, user, secret }: Fixture, scratch: string, scale: Scale): Promise<Figures> {
  const clock = systemClock;
  const deriveKey = openMasterKey({ path: join(scratch, 'master.key'), isCredential: false });
  const settings = () => ({ loginTokenTtlSeconds: 3_600 });
  const audit = makeAudit({ store, clock, log: makeLog({ level: 'fatal' }), deriveKey });
  const { issueToken, resolveToken } = makeLoginTokens({ store, audit, clock, deriveKey, settings });
  const actAs = () => Promise.reject(new Error('Nobody acts as another.'));
  const authenticate = makeAuthenticate({ resolveKey: makeResolveKey({ store, clock }), resolveToken, actAs });
  const { text: token } = await issueToken(user);
  const perSecond = async (credential: string): Promise<number> => {
    const ask = () =>
      authenticate(credential, { viaSocket: false, origin: { address: '127.0.0.1', requestId: 'bench' } });
    await callInLoop(1, { forMs: scale.submitMs / 6 }, ask);
    const { results, failures, seconds } = await callInLoop(1, { forMs: scale.submitMs / 3 }, ask);
    if (failures[0] !== undefined) throw new Error(failures[0]);
    return results.length / seconds;
  };
  return { keyChecksPerSecond: await perSecond(secret), tokenChecksPerSecond: await perSecond(token) };
}
