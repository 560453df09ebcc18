// Who reaches what: every kind of caller against every kind of thing.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Run } from '../../src/domain/sessions/run.ts';
import type { Caller, User } from '../../src/domain/people/user.ts';
import { callerAt } from '../../src/http/frame/guards.ts';
import { type Access, makeAccess, scopeOf } from '../../src/operations/access.ts';
import { OPERATOR } from '../support/http/callers.ts';
import { publishFixture } from '../support/store/publishing.ts';
import { aTask } from '../support/store/schedules.ts';
import { aWebhook } from '../support/store/webhooks.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../support/store/store-fixture.ts';

const UNKNOWN = '0190f6a0-0000-7000-8000-000000000000';

/** The owners of the things: a key, another key of the same user, another user, nobody, a deleted session. */
const WHOSE = ['own', 'second', 'other', 'unknown', 'deleted'] as const;
type Whose = (typeof WHOSE)[number];
type Noun = Exclude<keyof Access, 'webhook' | 'delivery' | 'scheduledTask' | 'page' | 'share'>;
type Ids = Readonly<Record<Noun, string>>;

let rows: StoreFixture;
let access: Access;
let things: Readonly<Record<Whose, Ids>>;
let callers: Readonly<Record<string, Caller>>;

async function thingsOf(
  turn: Parameters<StoreFixture['accept']>[0],
): Promise<Ids & { readonly sessionSeqs: readonly number[] }> {
  const asking: Run = await rows.accept(turn);
  const claimed = (await rows.claim(9)).find(({ seq }) => seq === asking.seq);
  const fence = fenceOf(claimed!);
  const report = { callId: 'i1', title: 'Salt', summary: 'It rusts.', priority: 'high' } as const;
  const insight = (await rows.store.insights.report(fence, report))!;
  await rows.store.runs.waitForUser(fence, { toolUseId: 'q1', toolName: 'ask', toolInput: {}, lifetimeMs: 60_000 });
  const filter = { userSeq: null, keySeq: null, sessionSeq: asking.sessionSeq, status: null, limit: 1, offset: 0 };
  const question = (await rows.store.userInputs.list(filter)).items[0]!.id;
  const limits = { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 };
  const later = await rows.accept({ ...turn, background: { payload: null, limits }, idempotencyKey: question });
  const echo = { metadata: {}, previousRunId: null, format: null, isStored: true };
  const response = await rows.accept({ ...turn, protocol: 'responses', response: echo });
  const { sessionId: session, id: run } = asking;
  const sessionSeqs = [asking.sessionSeq, later.sessionSeq, response.sessionSeq];
  return { session, run, backgroundRun: later.id, response: response.id, question, insight, sessionSeqs };
}

beforeEach(async () => {
  rows = await storeFixture();
  const { store, user, key } = rows;
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const otto: User = await store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
  const second = await rows.makeKey();
  const deleted = await thingsOf({});
  for (const seq of deleted.sessionSeqs) await store.sessions.deleteSession(seq);
  things = {
    own: await thingsOf({}),
    second: await thingsOf({ key: second }),
    other: await thingsOf({ user: otto, key: { ...(await rows.makeKey()), userSeq: otto.seq } }),
    unknown: {
      session: UNKNOWN,
      run: UNKNOWN,
      response: UNKNOWN,
      backgroundRun: UNKNOWN,
      question: UNKNOWN,
      insight: UNKNOWN,
    },
    deleted,
  };
  access = makeAccess(store);
  const plain = { ...user, role: 'user' } as const;
  const admin = { ...user, role: 'admin' } as const;
  callers = {
    'a key on a route for programs': callerAt('key', { kind: 'key', user: plain, key }, OPERATOR.origin),
    'an admin key on a route for programs': callerAt(
      'key',
      {
        kind: 'key',
        user: admin,
        key: { ...key, scope: 'admin' },
      },
      OPERATOR.origin,
    ),
    'a login token': callerAt('user', { kind: 'token', user: plain }, OPERATOR.origin),
    "an administrator's login token": callerAt('user', { kind: 'token', user: admin }, OPERATOR.origin),
    'an admin key on a route for administrators': callerAt(
      'admin',
      {
        kind: 'key',
        user: admin,
        key: { ...key, scope: 'admin' },
      },
      OPERATOR.origin,
    ),
    'the operator': callerAt('admin', { kind: 'operator' }, OPERATOR.origin),
  };
});

const KEY = ['reached', 'another API key', 'another user', 'not found', 'not found'];
const USER = ['reached', 'reached', 'another user', 'not found', 'not found'];
const ALL = ['reached', 'reached', 'reached', 'not found', 'not found'];

/** The outcome for the things of `WHOSE`, in that order. */
const OUTCOMES: readonly (readonly [string, readonly string[]])[] = [
  ['a key on a route for programs', KEY],
  ['an admin key on a route for programs', KEY],
  ['a login token', USER],
  ["an administrator's login token", ALL],
  ['an admin key on a route for administrators', ALL],
  ['the operator', ALL],
];

const NOUNS: readonly (readonly [Noun, string])[] = [
  ['session', 'session'],
  ['run', 'run'],
  ['backgroundRun', 'background run'],
  ['response', 'response'],
  ['question', 'question'],
  ['insight', 'insight'],
];

describe.each(OUTCOMES)('%s', (who, outcomes) => {
  test.each(NOUNS)('each %s, by its id in either case', async (noun, name) => {
    const capital = name[0]!.toUpperCase() + name.slice(1);
    const expected: Readonly<Record<string, unknown>> = {
      'another API key': { reason: 'forbidden', message: `The ${name} belongs to another API key.` },
      'another user': { reason: 'forbidden', message: `The ${name} belongs to another user.` },
      'not found': { reason: 'not_found', message: `${capital} not found.` },
    };
    for (const [at, whose] of WHOSE.entries()) {
      const id = things[whose][noun];
      for (const text of [id, id.toUpperCase()]) {
        const found: unknown = await access[noun](callers[who]!, text).catch((error: unknown) => error);
        expect(found).toMatchObject(outcomes[at] === 'reached' ? { id } : (expected[outcomes[at]!] as object));
      }
    }
  });
});

/** What becomes of a webhook of one's own, of another user, of the installation, and of none. */
const WEBHOOKS: readonly (readonly [string, readonly string[]])[] = [
  [
    'a login token',
    ['reached', 'The * belongs to another user.', 'The * belongs to the administrators.', '# not found.'],
  ],
  ["an administrator's login token", ['reached', 'reached', 'reached', '# not found.']],
  ['the operator', ['reached', 'reached', 'reached', '# not found.']],
];

test.each(WEBHOOKS)('webhooks and their deliveries: %s', async (who, outcomes) => {
  const { store, user } = rows;
  const otto = await store.users.get('otto');
  const made = [user.seq, otto.seq, null].map((userSeq) => store.webhooks.create(aWebhook({ userSeq })));
  const webhooks = await Promise.all(made);
  const sent = { eventId: UNKNOWN, eventType: 'session.completed', sessionSeq: null, body: '{}' } as const;
  const result = { at: 1, statusCode: 200, durationMs: 1, error: null, responseExcerpt: null };
  const tests = webhooks.map((webhook) => store.deliveries.recordTest({ ...sent, webhook }, result));
  const deliveries = await Promise.all(tests);
  const caller = callers[who]!;
  const outcomeOf = (found: Promise<unknown>) => found.then(() => 'reached').catch((error: Error) => error.message);
  for (const [at, outcome] of outcomes.entries()) {
    const expected = (lower: string, upper: string) => outcome.replace('*', lower).replace('#', upper);
    expect(await outcomeOf(access.webhook(caller, webhooks[at]?.id ?? 99))).toBe(expected('webhook', 'Webhook'));
    expect(await outcomeOf(access.delivery(caller, deliveries[at] ?? 99))).toBe(expected('delivery', 'Delivery'));
  }
});

test.each([
  ['a login token', ['reached', 'The scheduled task belongs to another user.']],
  ["an administrator's login token", ['reached', 'reached']],
  ['the operator', ['reached', 'reached']],
])('scheduled tasks of one’s own, of another user, and of none: %s', async (who, outcomes) => {
  const { store, user } = rows;
  const otto = await store.users.get('otto');
  const [own, other, gone] = await Promise.all(
    [user.seq, otto.seq, user.seq].map((seq) => store.schedules.create(aTask(seq))),
  );
  await store.schedules.remove(gone!.id);
  const outcomeOf = (id: string) =>
    access.scheduledTask(callers[who]!, id).then(
      (found) => (found.id === id.toLowerCase() ? 'reached' : found.id),
      (error: Error) => error.message,
    );
  expect(await Promise.all([own!.id, other!.id].map(outcomeOf))).toEqual(outcomes);
  expect(await outcomeOf(own!.id.toUpperCase())).toBe('reached');
  for (const id of [gone!.id, UNKNOWN]) expect(await outcomeOf(id)).toBe('Scheduled task not found.');
});

test.each(WEBHOOKS)('pages and their shares: %s', async (who, outcomes) => {
  const otto = await rows.store.users.get('otto');
  const fixture = await publishFixture(rows);
  const session = await fixture.workspace();
  const pages = [await fixture.publish(session), await fixture.publish(session, { userSeq: otto.seq })];
  const caller = callers[who]!;
  const outcomeOf = (found: Promise<unknown>) => found.then(() => 'reached').catch((error: Error) => error.message);
  for (const [at, whose] of [0, 1, 3].entries()) {
    const expected = (lower: string, upper: string) => outcomes[whose]!.replace('*', lower).replace('#', upper);
    expect(await outcomeOf(access.page(caller, pages[at]?.key ?? 'none'))).toBe(expected('page', 'Page'));
    expect(await outcomeOf(access.share(caller, pages[at]?.shareCode ?? 'none'))).toBe(expected('share', 'Share'));
  }
});

test('an ordinary run is not found as a background run', async () => {
  for (const whose of ['own', 'other'] as const) {
    const found = access.backgroundRun(callers['the operator']!, things[whose].run);
    await expect(found).rejects.toMatchObject({ reason: 'not_found', message: 'Background run not found.' });
  }
});

test.each(OUTCOMES)('lists for %s have what it reaches', async (who, outcomes) => {
  const reachedOf = (noun: 'question' | 'insight') =>
    WHOSE.filter((_, at) => outcomes[at] === 'reached').map((whose) => things[whose][noun]);
  const filter = { ...scopeOf(callers[who]!), sessionSeq: null, status: null, limit: 9, offset: 0 };
  const { userInputs, insights } = rows.store;
  expect((await userInputs.list(filter)).items.map(({ id }) => id).toSorted()).toEqual(
    reachedOf('question').toSorted(),
  );
  expect((await insights.list(filter)).items.map(({ id }) => id).toSorted()).toEqual(reachedOf('insight').toSorted());
});
