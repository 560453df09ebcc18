import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quarterOf } from '../../../src/domain/time-zone.ts';
import { NO_PRICE, type Usage } from '../../../src/domain/sessions/usage.ts';
import { ledgerFaultsOf, openRows } from '../../support/store/open-store.ts';
import { StepTransaction } from '../../../src/store/engine/statement.ts';
import { recordCall } from '../../../src/store/budgets/record-usage.ts';
import { callEveryVerb } from '../../support/store/every-verb.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import {
  aSpentCall,
  aStep,
  fenceOf,
  FREE,
  type StoreFixture,
  storeFixture,
  TIMING,
} from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const USAGE: Usage = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 400, cacheWriteTokens: 50 };
const PRICED = { name: 'deep', price: { ...NO_PRICE, inputPerMillionUsd: 2, outputPerMillionUsd: 10 } };

const records = ({ rows }: StoreFixture) => rows<Record<string, unknown>>('SELECT * FROM usage_records ORDER BY seq');

async function fixtureWithTeams() {
  const fixture = await storeFixture();
  const [red, blue] = [
    await fixture.store.teams.create({ name: 'Red', budgetUsd: null }),
    await fixture.store.teams.create({ name: 'Blue', budgetUsd: null }),
  ];
  const join = (teamId: string | null) => fixture.store.users.change('mara', { teamId });
  return { ...fixture, red, blue, join };
}

test('a model call leaves a row with everything that is reported of it', { tags: ['G12'] }, async () => {
  const fixture = await fixtureWithTeams();
  await fixture.join(fixture.red.id);
  const run = await fixture.accept();
  const [claimed] = await fixture.claim();
  await fixture.store.runs.recordStep(fenceOf(claimed!), aStep({ usage: USAGE }), PRICED);
  expect(records(fixture)).toEqual([
    {
      seq: 1,
      at: fixture.clock.now(),
      session_seq: run.sessionSeq,
      run_seq: run.seq,
      user_seq: fixture.user.seq,
      key_seq: fixture.key.seq,
      project_id: null,
      team_id: fixture.red.id,
      model: 'deep',
      input_tokens: 1_000,
      output_tokens: 100,
      cache_read_tokens: 400,
      cache_write_tokens: 50,
      cost_usd: (550 * 2 + 100 * 10) / 1_000_000,
      purpose: 'reply',
      step: 1,
      agent: null,
      estimated: 0,
      outcome: 'ok',
      tries: 1,
      commit_wait_ms: 2,
      budget_wait_ms: 0,
      permit_wait_ms: 3,
      retry_wait_ms: 0,
      first_token_ms: 40,
      duration_ms: 90,
    },
  ]);
});

test('replies, sub-agents and summaries leave a row each, which add up to the usage of the run', {
  tags: ['G12'],
}, async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  await fixture.store.runs.recordStep(fence, aStep({ usage: USAGE }), PRICED);
  await fixture.store.runs.recordSpent(fence, aSpentCall(USAGE), FREE);
  await fixture.store.runs.recordStep(fence, aStep({ step: 2, usage: USAGE }), PRICED);
  expect(records(fixture).map(({ model }) => model)).toEqual(['deep', 'scripted', 'deep']);
  expect((await fixture.store.runs.get(run!.seq)).usage.inputTokens).toBe(3_000);
  expect(ledgerFaultsOf(fixture.file)).toEqual([]);
});

test('an attempt that has lost its run leaves no row', { tags: ['G12'] }, async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const lost = { ...fenceOf(run!), attempt: 7 };
  expect(await fixture.store.runs.recordStep(lost, aStep(), FREE)).toBe(false);
  expect(await fixture.store.runs.recordSpent(lost, aSpentCall(USAGE), FREE)).toBe(false);
  expect(records(fixture)).toEqual([]);
});

test('a row has the team of its moment; without one it counts for the team of its run, which stays', {
  tags: ['§4.8-rule-2'],
}, async () => {
  const fixture = await fixtureWithTeams();
  await fixture.join(fixture.red.id);
  await fixture.accept();
  const [run] = await fixture.claim();
  for (const [step, teamId] of [fixture.red.id, fixture.blue.id, null].entries()) {
    await fixture.join(teamId);
    await fixture.store.runs.recordStep(fenceOf(run!), aStep({ step: step + 1, usage: USAGE }), FREE);
  }
  expect(records(fixture).map(({ team_id }) => team_id)).toEqual([fixture.red.id, fixture.blue.id, null]);
  expect(fixture.rows('SELECT team_id FROM runs')).toEqual([{ team_id: fixture.red.id }]);
  expect(fixture.rows('SELECT team_id, user_seq, tokens FROM usage_quarters ORDER BY tokens')).toEqual([
    { team_id: fixture.blue.id, user_seq: 0, tokens: 1_100 },
    { team_id: fixture.red.id, user_seq: 0, tokens: 2_200 },
  ]);
});

test('what no team is known for counts for its user', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ usage: USAGE }), FREE);
  expect(fixture.rows('SELECT quarter, team_id, user_seq, tokens FROM usage_quarters')).toEqual([
    { quarter: quarterOf(fixture.clock.now()), team_id: '', user_seq: fixture.user.seq, tokens: 1_100 },
  ]);
});

test('quarters of an hour add up by themselves, and sessions are known by their last one', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const quarter = quarterOf(fixture.clock.now());
  for (const step of [1, 2, 3]) {
    if (step === 3) fixture.clock.advance(900_000);
    await fixture.store.runs.recordStep(fenceOf(run!), aStep({ step, usage: USAGE }), FREE);
  }
  expect(fixture.rows('SELECT quarter, tokens FROM usage_quarters')).toEqual([
    { quarter, tokens: 2_200 },
    { quarter: quarter + 1, tokens: 1_100 },
  ]);
  expect(fixture.rows('SELECT quarter, normal_quarter, scheduled_quarter FROM session_activity')).toEqual([
    { quarter: quarter + 1, normal_quarter: quarter + 1, scheduled_quarter: 0 },
  ]);
});

test('a call without a run counts for its session, and for no source', async () => {
  const fixture = await storeFixture();
  const run = await fixture.accept();
  await fixture.store.close();
  const database = openRows(fixture.file, fixture.clock);
  const call = { sessionSeq: run.sessionSeq, model: 'deep', usage: USAGE, costUsd: 0.5, run: null };
  await database.write((tx) => recordCall(tx, call))();
  await database.close();
  expect(records(fixture)).toMatchObject([{ run_seq: null, key_seq: null, input_tokens: 1_000, cost_usd: 0.5 }]);
  expect(fixture.rows('SELECT normal_quarter, scheduled_quarter FROM session_activity')).toEqual([
    { normal_quarter: 0, scheduled_quarter: 0 },
  ]);
  expect(ledgerFaultsOf(fixture.file)).toEqual([]);
});

test('whatever verbs do, the rows add up to what is kept of them', { tags: ['G12'] }, async () => {
  const fixture = await storeFixture();
  await callEveryVerb(fixture);
  expect(records(fixture)).not.toEqual([]);
  expect(ledgerFaultsOf(fixture.file)).toEqual([]);
});

test('a ledger that does not add up is found out', async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const fixture = await storeFixture(file);
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.recordStep(fenceOf(run!), aStep(), FREE);
  await fixture.store.close();
  const database = openRows(file, fakeClock());
  await database.write((tx) => tx.run('UPDATE usage_records SET output_tokens = 5, at = at + 900000'))();
  await database.write((tx) => tx.run('UPDATE session_totals SET tool_count = 5'))();
  await database.write((tx) => tx.run('UPDATE runs SET tool_count = 3'))();
  await database.close();
  expect(ledgerFaultsOf(file).map((line) => line.replace(/:.*/, ''))).toEqual([
    'usage of runs do not add up',
    'quarters of an hour do not add up',
    'activity of sessions do not add up',
    'usage of sessions do not add up',
    'counts of sessions do not add up',
    'tool calls of runs do not add up',
  ]);
});

test('what a call was for and how long it took costs no statement more', () => {
  const facts = { purpose: 'reply', step: 1, agent: null, outcome: 'ok', timing: TIMING } as const;
  const run = { seq: 1, keySeq: 1, teamId: null, isScheduled: false };
  const call = { sessionSeq: 1, model: 'deep', usage: USAGE, costUsd: 0, run, facts };
  const steps = recordCall(new StepTransaction(0), call)[Symbol.iterator]();
  const tables: string[] = [];
  for (let next = steps.next(undefined); next.done !== true; next = steps.next({ teamId: null, userSeq: 1 })) {
    tables.push(/(?:INSERT INTO|UPDATE) (\w+)/.exec([next.value].flat()[0]!.sql)![1]!);
  }
  expect(tables).toEqual(['usage_records', 'usage_quarters', 'session_activity', 'session_totals']);
});
