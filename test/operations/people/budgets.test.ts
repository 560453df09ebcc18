import { expect, test } from 'vitest';
import { makeBudgetOperations, type WantedBudget } from '../../../src/operations/people/budgets.ts';
import { ROOT } from '../../support/store/audited-fixture.ts';
import { auditOf } from '../../support/store/audit.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

const WANTED: WantedBudget = {
  subject: 'user',
  reference: 'mara',
  unit: 'usd',
  limit: 5,
  period: 'month',
  timeZone: null,
};
const PAGE = { limit: 9, offset: 0 };

async function budgetVerbs() {
  const fixture = await storeFixture();
  await fixture.store.teams.create({ name: 'Red', budgetUsd: null });
  return { ...fixture, verbs: makeBudgetOperations({ ...fixture, audit: auditOf(fixture) }) };
}

test('users and teams are named by name, keys by id, and a list is narrowed to one of them', async () => {
  const { verbs, key } = await budgetVerbs();
  await verbs.setBudget(ROOT, WANTED);
  await verbs.setBudget(ROOT, { ...WANTED, subject: 'team', reference: 'Red' });
  await verbs.setBudget(ROOT, { ...WANTED, subject: 'key', reference: key.id });
  await verbs.setBudget(ROOT, { ...WANTED, subject: 'run', reference: null, period: 'all' });
  const names = async (subject: WantedBudget['subject'] | null, reference: string | null) =>
    (await verbs.listBudgets(ROOT, { ...PAGE, subject, reference })).items.map((one) => [one.subject, one.subjectName]);
  expect(await names(null, null)).toEqual([
    ['run', null],
    ['key', key.id],
    ['team', 'Red'],
    ['user', 'mara'],
  ]);
  expect(await names('team', null)).toEqual([['team', 'Red']]);
  expect(await names('user', 'mara')).toEqual([['user', 'mara']]);
  expect(await names('run', null)).toEqual([['run', null]]);
});

test('a budget that is set again is the same one; another period or unit has its own', async () => {
  const { verbs } = await budgetVerbs();
  const first = await verbs.setBudget(ROOT, WANTED);
  expect(first).toMatchObject({ timeZone: 'UTC', limit: 5, renewsAt: Date.parse('2026-04-01T00:00Z') });
  const again = await verbs.setBudget(ROOT, { ...WANTED, limit: 7, timeZone: 'Europe/Zurich' });
  expect(again).toMatchObject({ id: first.id, limit: 7, renewsAt: Date.parse('2026-03-31T22:00Z') });
  await verbs.setBudget(ROOT, { ...WANTED, unit: 'tokens' });
  await verbs.setBudget(ROOT, { ...WANTED, period: 'day' });
  expect((await verbs.listBudgets(ROOT, { ...PAGE, subject: null, reference: null })).total).toBe(3);
});

test('the budget of a team by day in US dollars is that of the team itself', async () => {
  const { verbs, store } = await budgetVerbs();
  const ofTeam = { ...WANTED, subject: 'team', reference: 'Red', period: 'day' } as const;
  const { id } = await verbs.setBudget(ROOT, ofTeam);
  await verbs.setBudget(ROOT, { ...ofTeam, period: 'month', limit: 100 });
  expect((await store.teams.get('Red')).budgetUsd).toBe(5);
  await store.teams.change('Red', { budgetUsd: 6 });
  expect(await verbs.getBudget(ROOT, id)).toMatchObject({ limit: 6 });
  await store.teams.change('Red', { name: 'Blue', budgetUsd: null });
  await expect(verbs.getBudget(ROOT, id)).rejects.toMatchObject({ reason: 'not_found' });
  expect((await store.teams.get('Blue')).budgetUsd).toBe(null);
  expect((await verbs.listBudgets(ROOT, { ...PAGE, subject: 'team', reference: 'Blue' })).total).toBe(1);
});

test.each([
  [{ reference: 'nobody' }, 'not_found', 'User not found.'],
  [{ subject: 'team', reference: 'Green' }, 'not_found', 'Team not found.'],
  [{ subject: 'key', reference: 'none' }, 'not_found', 'API key not found.'],
  [{ reference: null }, 'unprocessable', 'ref: must name the user'],
  [{ subject: 'run', period: 'all' }, 'unprocessable', 'ref: must be left out'],
  [{ subject: 'run', reference: null }, 'unprocessable', 'period: must be "all"'],
] as const)('%j is refused', async (changes, reason, message) => {
  const { verbs, rows } = await budgetVerbs();
  const refused = { reason, message: expect.stringContaining(message) as string };
  await expect(verbs.setBudget(ROOT, { ...WANTED, ...changes })).rejects.toMatchObject(refused);
  expect(rows('SELECT * FROM budgets')).toEqual([]);
});

test('a removed budget is gone, and a second removal finds nothing', async () => {
  const { verbs } = await budgetVerbs();
  const { id } = await verbs.setBudget(ROOT, WANTED);
  expect((await verbs.removeBudget(ROOT, id)).limit).toBe(5);
  await expect(verbs.removeBudget(ROOT, id)).rejects.toMatchObject({ reason: 'not_found' });
});
