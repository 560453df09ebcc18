// A turn that is accepted while a slot is kept for its run: it starts at once, or takes its place in the queue.
import { expect, test } from 'vitest';
import type { Acceptance, NewTurn } from '../../../src/store/lifecycle/accept-run.ts';
import { aTurn, fenceOf, START, type StoreHouse, storeHouse } from '../../support/store/store-house.ts';

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

async function admit(house: StoreHouse, over: Partial<NewTurn> = {}): Promise<Accepted> {
  const acceptance = await house.store.runs.accept({ ...aTurn(house.user, house.key), start: START, ...over });
  if (acceptance.kind !== 'accepted') throw new Error(acceptance.kind);
  return acceptance;
}

/** Everything that is in the file about a session's last run, but for ids and how the run was scheduled. */
function rowsOf(house: StoreHouse, sessionSeq: number) {
  const strip = (row: Row): Row => ({ ...row, id: 0, seq: 0, session_seq: 0, run_seq: 0, schedule_mode: '' });
  const rows = (sql: string) => house.rows<Row>(sql).map(strip);
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
    const house = await storeHouse();
    const outputSchema = { type: 'object' };
    const sessions = [];
    for (const start of [null, START]) {
      const { sessionId, sessionSeq } = await house.accept();
      const [first] = await house.claim();
      await house.store.runs.end(fenceOf(first!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
      const accepted = await admit(house, { start, outputSchema, sessionId: continues ? sessionId : null });
      const [queued] = start === null ? await house.claim() : [];
      sessions.push({ rows: rowsOf(house, continues ? sessionSeq : accepted.session.seq), accepted, queued });
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
    expect(await house.store.runs.get(run.seq)).toEqual(run);
    expect(await house.store.sessions.find(session.id)).toMatchObject(session);
    expect(await house.claim(9)).toEqual([]);
  },
);

test.each([
  {
    why: 'another run is ready, whose key may have none executing',
    before: async (house: StoreHouse) => void (await house.accept({ key: await house.makeKey() })),
  },
  {
    why: 'its user was disabled after the request was authenticated',
    before: async (house: StoreHouse) => house.change('UPDATE users SET disabled = 1'),
  },
  {
    why: 'it is a background run',
    before: async () => undefined,
    turn: { background: { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 } } },
  },
])('a run takes its place in the queue when $why', async ({ before, turn }) => {
  const house = await storeHouse();
  await before(house);
  const { run, claim } = await admit(house, turn);
  expect([run.status, claim]).toEqual(['queued', null]);
  expect(house.committed.map(({ type }) => type)).not.toContain('run.started');
});

test('a run of a session that has an unfinished one waits for it', async () => {
  const house = await storeHouse();
  const { session } = await admit(house);
  const { run, claim } = await admit(house, { sessionId: session.id });
  expect([run.status, run.scheduleMode, claim]).toEqual(['queued', 'queued', null]);
});

test('background runs that wait hold back no run that somebody waits for', async () => {
  const house = await storeHouse();
  const limits = { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 };
  await house.accept({ background: { payload: null, limits } });
  expect((await admit(house)).run.status).toBe('running');
});

test('the model is chosen by the key, the scenario and the lead as they are at that moment', async () => {
  const house = await storeHouse();
  house.change("UPDATE api_keys SET model = 'fixed'; UPDATE users SET scenario = 'careful'");
  const setup = { ...aTurn(house.user, house.key).setup, target: 'team:t', orchestration: CREW };
  const first = await admit(house, { setup });
  const choice = { keyModel: 'fixed', scenario: 'careful', target: 'team:t', leadModel: 'large' };
  expect(first.claim!.choice).toEqual(choice);
  await house.store.runs.end(fenceOf(first.claim!.run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  expect((await admit(house, { sessionId: first.session.id })).claim!.choice).toEqual(choice);
});

test.each([{ team: false }, { team: true }])(
  'a short turn that opens a session brings what the store has of it, with a team: $team',
  async ({ team }) => {
    const house = await storeHouse();
    const plain = aTurn(house.user, house.key).setup;
    const capabilityConfig = { ...plain.capabilityConfig, skillIds: [3], browserEnabled: true };
    const setup = team ? { ...plain, capabilityConfig, target: 'team:t', orchestration: CREW } : plain;
    const { session, run, claim } = await admit(house, {
      setup,
      content: [{ type: 'text', text: 'Größe? \u{1F30A} \ud800' }],
    });
    const { turns, sessions } = house.store;
    const { user } = await turns.get(run.seq, 1);
    const bytes = await turns.bytesOf({ sessionSeq: session.seq, seq: run.seq, documentBytes: 0 });
    expect(claim!.run.fresh).toEqual({ user, bytes, setup: await sessions.getSetup(session.seq) });
  },
);

test.each<{ what: string; of: (house: StoreHouse) => Promise<Partial<NewTurn>> }>([
  { what: 'has a long text', of: async () => ({ content: [{ type: 'text', text: 'x'.repeat(5_000) }] }) },
  { what: 'has an attachment', of: async () => ({ attachments: [FILE] }) },
  {
    what: 'continues a session',
    of: async (house) => {
      const { run, session } = await admit(house);
      const ended = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;
      await house.store.runs.end({ sessionSeq: session.seq, runSeq: run.seq, attempt: 1, workedMs: 0 }, ended);
      return { sessionId: session.id };
    },
  },
])('a turn that $what is read from the store', async ({ of }) => {
  const house = await storeHouse();
  const { claim } = await admit(house, await of(house));
  expect(claim!.run).toMatchObject({ attempt: 1 });
  expect(claim!.run.fresh).toBeUndefined();
});
