// A turn that is accepted while a slot is kept for its run: it starts at once, or takes its place in the queue.
import { expect, test } from 'vitest';
import type { Acceptance, NewTurn } from '../../../src/store/lifecycle/accept-run.ts';
import { aTurn, fenceOf, START, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

type Accepted = Extract<Acceptance, { readonly kind: 'accepted' }>;
type Row = Record<string, unknown>;

const PLAN = { name: 'lead', description: '', instructions: '', tools: null, skills: [], mcpServers: [] };
const LEAD = { ...PLAN, model: 'large', connectors: null, subagents: [], browser: false };
const CREW = { team: 't', description: '', instructions: '', lead: LEAD, members: [] };
const FILE = {
  id: 'a0000000-0000-7000-8000-000000000001',
  name: 'a.csv',
  path: 'attachments/a/a.csv',
  mimeType: 'text/csv',
  size: 1,
  sha256: 'aa',
};

async function admit(fixture: StoreFixture, over: Partial<NewTurn> = {}): Promise<Accepted> {
  const acceptance = await fixture.store.runs.accept({ ...aTurn(fixture.user, fixture.key), start: START, ...over });
  if (acceptance.kind !== 'accepted') throw new Error(acceptance.kind);
  return acceptance;
}

/** Everything that is in the file about a session's last run, but for ids and how the run was scheduled. */
function rowsOf(fixture: StoreFixture, sessionSeq: number) {
  const strip = (row: Row): Row => ({ ...row, id: 0, seq: 0, session_seq: 0, run_seq: 0, schedule_mode: '' });
  const rows = (sql: string) => fixture.rows<Row>(sql).map(strip);
  const events = rows(`SELECT * FROM events WHERE session_seq = ${sessionSeq} ORDER BY id`);
  return {
    session: rows(`SELECT * FROM sessions WHERE seq = ${sessionSeq}`),
    run: rows(`SELECT * FROM runs WHERE session_seq = ${sessionSeq} ORDER BY seq DESC LIMIT 1`),
    events: events.map(({ payload, ...event }) => ({
      ...event,
      payload: { ...(JSON.parse(payload as string) as Row), scheduleMode: null, messageId: null },
    })),
  };
}

test.each([{ continues: false }, { continues: true }])(
  'a run that starts at once leaves what one leaves that is claimed next, continues: $continues',
  { tags: ['C5'] },
  async ({ continues }) => {
    const fixture = await storeFixture();
    const outputSchema = { type: 'object' };
    const sessions = [];
    for (const start of [null, START]) {
      const { sessionId, sessionSeq } = await fixture.accept();
      const [first] = await fixture.claim();
      await fixture.store.runs.end(fenceOf(first!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
      const accepted = await admit(fixture, { start, outputSchema, sessionId: continues ? sessionId : null });
      const [queued] = start === null ? await fixture.claim() : [];
      sessions.push({ rows: rowsOf(fixture, continues ? sessionSeq : accepted.session.seq), accepted, queued });
    }
    const [claimed, started] = sessions;
    expect(started!.rows).toEqual(claimed!.rows);
    expect(started!.rows.events.slice(-2)).toMatchObject([{ type: 'run.queued' }, { type: 'run.started' }]);
    const { run, session, claim } = started!.accepted;
    expect(claim!.run).toMatchObject({
      ...claimed!.queued,
      seq: run.seq,
      id: run.id,
      sessionSeq: session.seq,
      sessionId: session.id,
    });
    expect([run.scheduleMode, claimed!.accepted.run.scheduleMode]).toEqual(['immediate', 'queued']);
    expect(await fixture.store.runs.get(run.seq)).toEqual(run);
    expect(await fixture.store.sessions.find(session.id)).toMatchObject(session);
    expect(await fixture.claim(9)).toEqual([]);
  },
);

test.each([
  {
    why: 'another run is ready, whose key may have none executing',
    before: async (fixture: StoreFixture) => void (await fixture.accept({ key: await fixture.makeKey() })),
  },
  {
    why: 'its user was disabled after the request was authenticated',
    before: async (fixture: StoreFixture) => fixture.change('UPDATE users SET disabled = 1'),
  },
  {
    why: 'it is a background run',
    before: async () => undefined,
    turn: { background: { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 } } },
  },
])('a run takes its place in the queue when $why', async ({ before, turn }) => {
  const fixture = await storeFixture();
  await before(fixture);
  const { run, claim } = await admit(fixture, turn);
  expect([run.status, claim]).toEqual(['queued', null]);
  expect(fixture.committed.map(({ type }) => type)).not.toContain('run.started');
});

test('a run of a session that has an unfinished one waits for it', async () => {
  const fixture = await storeFixture();
  const { session } = await admit(fixture);
  const { run, claim } = await admit(fixture, { sessionId: session.id });
  expect([run.status, run.scheduleMode, claim]).toEqual(['queued', 'queued', null]);
});

test('background runs that wait hold back no run that somebody waits for', async () => {
  const fixture = await storeFixture();
  const limits = { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 };
  await fixture.accept({ background: { payload: null, limits } });
  expect((await admit(fixture)).run.status).toBe('running');
});

test('the model is chosen by the key, the scenario and the lead as they are at that moment', async () => {
  const fixture = await storeFixture();
  fixture.change("UPDATE api_keys SET model = 'fixed'; UPDATE users SET scenario = 'careful'");
  const setup = { ...aTurn(fixture.user, fixture.key).setup, target: 'team:t', orchestration: CREW };
  const first = await admit(fixture, { setup });
  const choice = { keyModel: 'fixed', scenario: 'careful', target: 'team:t', leadModel: 'large' };
  expect(first.claim!.choice).toEqual(choice);
  await fixture.store.runs.end(fenceOf(first.claim!.run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  expect((await admit(fixture, { sessionId: first.session.id })).claim!.choice).toEqual(choice);
});

test.each([{ team: false }, { team: true }])(
  'a short turn that opens a session brings what the store has of it, with a team: $team',
  async ({ team }) => {
    const fixture = await storeFixture();
    const plain = aTurn(fixture.user, fixture.key).setup;
    const capabilityConfig = { ...plain.capabilityConfig, skillIds: [3], browserEnabled: true };
    const setup = team ? { ...plain, capabilityConfig, target: 'team:t', orchestration: CREW } : plain;
    const { session, run, claim } = await admit(fixture, {
      setup,
      content: [{ type: 'text', text: 'Größe? \u{1F30A} \ud800' }],
    });
    const { turns, sessions } = fixture.store;
    const { user } = await turns.get(run.seq, 1);
    const bytes = await turns.bytesOf({ sessionSeq: session.seq, seq: run.seq, documentBytes: 0 });
    expect(claim!.run.fresh).toEqual({ user, bytes, setup: await sessions.getSetup(session.seq) });
  },
);

test.each<{ what: string; of: (fixture: StoreFixture) => Promise<Partial<NewTurn>> }>([
  { what: 'has a long text', of: async () => ({ content: [{ type: 'text', text: 'x'.repeat(5_000) }] }) },
  { what: 'has an attachment', of: async () => ({ attachments: [FILE] }) },
  {
    what: 'continues a session',
    of: async (fixture) => {
      const { run, session } = await admit(fixture);
      const ended = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;
      await fixture.store.runs.end({ sessionSeq: session.seq, runSeq: run.seq, attempt: 1, workedMs: 0 }, ended);
      return { sessionId: session.id };
    },
  },
])('a turn that $what is read from the store', async ({ of }) => {
  const fixture = await storeFixture();
  const { claim } = await admit(fixture, await of(fixture));
  expect(claim!.run).toMatchObject({ attempt: 1 });
  expect(claim!.run.fresh).toBeUndefined();
});
