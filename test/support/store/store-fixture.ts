// A store on a real file, with people and keys in it, for the tests of the rooms that keep and do.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { NO_CAPABILITIES } from '../../../src/domain/capabilities/capability-config.ts';
import type { Run } from '../../../src/domain/sessions/run.ts';
import type { CallTiming } from '../../../src/domain/sessions/call-timing.ts';
import { NO_PRICE, type Usage } from '../../../src/domain/sessions/usage.ts';
import type { ApiKey, User } from '../../../src/domain/people/user.ts';
import type { JournalEvent } from '../../../src/domain/sessions/journal-event.ts';
import type { NewTurn } from '../../../src/store/lifecycle/accept-run.ts';
import type { ClaimInput } from '../../../src/store/lifecycle/claim-runs.ts';
import type { ClaimedRun, StartInput } from '../../../src/store/lifecycle/start-run.ts';
import type { Store, StoreOptions } from '../../../src/store/open-store.ts';
import { changeRows, openStore, rowsOf } from './open-store.ts';
import type { NewStep, SpentCall } from '../../../src/store/lifecycle/record-progress.ts';
import type { Progress } from '../../../src/store/runs/fence.ts';
import { type FakeClock, fakeClock } from '../time/fake-clock.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';

export interface StoreFixture {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly file: string;
  readonly user: User;
  readonly key: ApiKey;
  /** Every event committed since the store was opened, in order. */
  readonly committed: JournalEvent[];
  /** Another key of the same user. */
  makeKey(): Promise<ApiKey>;
  /** Accepts a turn of the installation's user and key. */
  accept(turn?: Partial<NewTurn>): Promise<Run>;
  /** Claims what may be claimed and answers the runs. */
  claim(limit?: number, order?: Partial<ClaimInput>): Promise<ClaimedRun[]>;
  /** Rows of a query on the file, beside the store. */
  rows<Row>(sql: string): Row[];
  /** Changes the file beside the store. */
  change(sql: string): void;
}

export async function storeFixture(
  file = join(temporaryDirectory(), 'errand.db'),
  options: Partial<StoreOptions> = {},
  open = openStore,
): Promise<StoreFixture> {
  const clock = fakeClock();
  const store = open(file, clock, options);
  onTestFinished(() => store.close());
  const committed: JournalEvent[] = [];
  store.onCommitted((events) => void committed.push(...events));
  const {
    teamName: _team,
    workspaceBytes: _bytes,
    ...user
  } = await store.users.create({
    username: 'mara',
    fullName: 'Mara Vogt',
    department: 'Lab',
    role: 'admin',
    teamId: null,
    functionalRole: null,
    scenario: null,
    passwordHash: 'x',
  });
  let keys = 0;
  const makeKey = async () => {
    keys += 1;
    return store.keys.create({
      id: `key0000${keys}`,
      userSeq: user.seq,
      name: '',
      scope: 'global',
      lastFour: 'abcd',
      secretSha256: Buffer.alloc(32),
      model: null,
      target: 'free',
      projectId: null,
      expiresAt: null,
    });
  };
  const key = await makeKey();
  return {
    store,
    clock,
    file,
    user,
    key,
    committed,
    makeKey,
    accept: async (turn = {}) => {
      const acceptance = await store.runs.accept({ ...aTurn(user, key), ...turn });
      if (!('run' in acceptance)) throw new Error(`refused: ${acceptance.kind}`);
      return acceptance.run;
    },
    claim: async (limit = 1, order = {}) => {
      const claims = await store.runs.claim({ ...START, limit, background: BACKGROUND_CLAIM, ...order });
      return claims.map(({ run }) => run);
    },
    change: (sql) => changeRows(file, sql),
    rows: (sql) => rowsOf(file, sql),
  };
}

export function aTurn(user: User, key: ApiKey): NewTurn {
  return {
    user,
    key,
    protocol: 'messages',
    requestedModel: 'errand',
    includeUsage: false,
    outputSchema: null,
    resultInContent: false,
    sessionId: null,
    sessionSeq: null,
    title: 'Tides',
    setup: { target: key.target, capabilityConfig: NO_CAPABILITIES, orchestration: null },
    idempotencyKey: null,
    content: [{ type: 'text', text: 'Tell me of tides.' }],
    preview: 'Tell me of tides.',
    attachments: [],
    userQuotaBytes: 0,
    allDrain: false,
    start: null,
    background: null,
  };
}

export const START: StartInput = { node: 'here', leaseMs: 60_000, modelFor: () => 'scripted' };

export const BACKGROUND_CLAIM = { slots: 9, maxExecutingPerKey: 2 };

/** What fences a write of the attempt, with what it has been at work. */
export const fenceOf = (run: ClaimedRun, workedMs = run.workedMs): Progress => ({
  sessionSeq: run.sessionSeq,
  runSeq: run.seq,
  attempt: run.attempt,
  workedMs,
});

export const TIMING: CallTiming = {
  tries: 1,
  commitWaitMs: 2,
  budgetWaitMs: 0,
  permitWaitMs: 3,
  retryWaitMs: 0,
  firstTokenMs: 40,
  durationMs: 90,
};

/** A call of a sub-agent. */
export const aSpentCall = (usage: Usage = aStep().usage): SpentCall => ({
  usage,
  estimated: false,
  purpose: 'agent',
  agent: 'reader',
  timing: TIMING,
});

export function aStep(over: Partial<NewStep> = {}): NewStep {
  return {
    step: 1,
    kind: 'openai',
    message: { role: 'assistant', content: 'The moon pulls.' },
    text: 'The moon pulls.',
    calls: [],
    usage: { inputTokens: 10, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 },
    estimated: false,
    context: { system: 3, history: 5, tools: 2 },
    timing: TIMING,
    setup: null,
    ...over,
  };
}

/** A model that costs nothing. */
export const FREE = { name: 'scripted', price: NO_PRICE };
