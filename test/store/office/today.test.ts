// Rows of today's runs of a team: their order, their sums and their day (§4.8 rules 6-8).
import { expect, test } from 'vitest';
import { COST, officeFixture, TOKENS } from '../../support/store/office-fixture.ts';

test('rule 8: a row has what its session used today, for whichever team, and nothing of yesterday', {
  tags: ['§4.8-rule-8'],
}, async () => {
  const fixture = await officeFixture();
  const [red, blue] = [await fixture.team('Red'), await fixture.team('Blue')];
  const who = await fixture.person('ann', red);
  const first = await fixture.work({ who, calls: 5 });
  fixture.clock.jump(86_400_000);
  await fixture.work({ who, in: first, calls: 2 });
  await fixture.join(who, blue);
  await fixture.work({ who, in: first });
  const { items } = await fixture.today({ team: red });
  expect(items.map(({ usage }) => usage)).toEqual([
    { tokens: 3 * TOKENS, costUsd: expect.closeTo(3 * COST, 9) as number },
  ]);
  const { teams } = await fixture.snapshot();
  expect(teams.map(({ name, tokens }) => [name, tokens])).toEqual([
    ['Blue', TOKENS],
    ['Red', 2 * TOKENS],
  ]);
});

test('rule 6: live unassigned runs come before runs found through usage; pages are of sessions', {
  tags: ['§4.8-rule-6'],
}, async () => {
  const fixture = await officeFixture();
  const who = await fixture.person('ann');
  const used = [await fixture.work({ who }), await fixture.work({ who })];
  const twice = used[0]!;
  await fixture.work({ who, in: twice });
  const live = await fixture.work({ who, calls: 0, goesOn: true });
  const sessionsOf = async (offset: number) => {
    const { items, total, itemTotal } = await fixture.today({ limit: 2, offset });
    expect([total, itemTotal]).toEqual([3, 3]);
    return items.map(({ run }) => run.sessionId);
  };
  expect(await sessionsOf(0)).toEqual([live.sessionId, used[1]!.sessionId]);
  expect(await sessionsOf(2)).toEqual([twice.sessionId, twice.sessionId]);
  expect(await sessionsOf(4)).toEqual([]);
});

test('sessions that were used last come first', async () => {
  const fixture = await officeFixture();
  const red = await fixture.team('Red');
  const who = await fixture.person('ann', red);
  const runs = [await fixture.work({ who }), await fixture.work({ who }), await fixture.work({ who })];
  fixture.clock.jump(900_000);
  await fixture.work({ who, in: runs[0]! });
  const { items } = await fixture.today({ team: red });
  const order = [0, 0, 2, 1].map((index) => runs[index]!.sessionId);
  expect(items.map(({ run }) => run.sessionId)).toEqual(order);
});

test('a deleted session is marked, and its title is gone with it', { tags: ['§4.8-rule-7'] }, async () => {
  const fixture = await officeFixture();
  const red = await fixture.team('Red');
  const run = await fixture.work({ who: await fixture.person('ann', red) });
  await fixture.delete(run);
  while (await fixture.store.erasures.eraseSession(run.sessionSeq));
  const { items } = await fixture.today({ team: red });
  expect(items).toMatchObject([{ isDeleted: true, source: 'normal_session', run: { id: run.id, sessionTitle: '' } }]);
});

test('the day turns during a run: each day has what was used in it, in every zone', {
  tags: ['§4.8-time-zone'],
}, async () => {
  const fixture = await officeFixture('2026-03-10T15:50:00Z');
  const red = await fixture.team('Red');
  const run = await fixture.work({ who: await fixture.person('ann', red), goesOn: true });
  fixture.clock.jump(20 * 60_000);
  await fixture.callOf(run);
  const tokensIn = async (zone: string) => {
    const { usage: day, teams } = await fixture.snapshot(zone);
    const { items } = await fixture.today({ team: red }, zone);
    expect([teams[0]!.tokens, items[0]!.usage.tokens]).toEqual([day.tokens, day.tokens]);
    return day.tokens;
  };
  // In Shanghai it is ten past midnight, in Kathmandu 21:55, in Berlin ten past five.
  expect(await tokensIn('Asia/Shanghai')).toBe(TOKENS);
  expect(await tokensIn('Asia/Kathmandu')).toBe(2 * TOKENS);
  expect(await tokensIn('Europe/Berlin')).toBe(2 * TOKENS);
});
