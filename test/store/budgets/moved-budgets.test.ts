// Budgets of teams from before there were others: each becomes one by day that knows what its day has used.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/store/open-store.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../src/store/engine/migrations', import.meta.url));
const BEFORE = 22;
const AT = Date.parse('2026-03-01T12:00:00.000Z');
const QUARTER = AT / 900_000;

async function oldDatabase(): Promise<string> {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  connection.function('account_of', String);
  for (const name of readdirSync(MIGRATIONS).toSorted().slice(0, BEFORE)) {
    connection.exec(Object.values((await import(join(MIGRATIONS, name))) as Record<string, string>)[0]!);
  }
  connection.pragma(`user_version = ${BEFORE}`);
  connection.exec(`
    INSERT INTO teams (id, name, budget_usd, created_at, updated_at)
      VALUES ('a', 'Ada', 5, 1, 1), ('b', 'Ben', 0, 1, 1), ('c', 'Cleo', NULL, 1, 1), ('d', 'Dan', 7, 1, 1);
    INSERT INTO usage_quarters (quarter, team_id, user_seq, tokens, cost_usd)
      VALUES (${QUARTER}, 'a', 0, 10, 1.5), (${QUARTER - 4}, 'a', 0, 10, 2), (${QUARTER - 96}, 'a', 0, 10, 40);`);
  connection.close();
  return file;
}

test('a budget of a team stays, and limits what the team uses in a day; one of 0 was none', async () => {
  const clock = fakeClock(AT);
  const store = openStore(await oldDatabase(), clock);
  onTestFinished(() => store.close());
  const { items } = await store.teams.list();
  expect(items.map(({ name, budgetUsd }) => [name, budgetUsd])).toEqual([
    ['Ada', 5],
    ['Ben', null],
    ['Cleo', null],
    ['Dan', 7],
  ]);
  const all = { subject: null, payer: { keySeq: null, userSeq: null, teamId: null }, limit: 9, offset: 0 };
  const budgets = (await store.budgets.list(all, clock.now())).items;
  const common = { subject: 'team', unit: 'usd', period: 'day', timeZone: 'UTC' };
  expect(budgets).toMatchObject([
    { ...common, subjectName: 'Dan', limit: 7, spent: 0 },
    { ...common, subjectName: 'Ada', limit: 5, spent: 3.5 },
  ]);
  clock.jump(86_400_000);
  expect((await store.budgets.find(budgets[1]!.id, clock.now()))?.spent).toBe(0);
});
