// Calls in progress that a daemon left before an upgrade are recorded by the one that comes after it.
import { expect, test } from 'vitest';
import { heldCalls } from '../../../../src/store/engine/migrations/045-held-calls.ts';
import { postgresDdl } from '../../../../src/store/engine/postgres/sql/schema.ts';
import { isPostgres } from '../../../support/postgres/shared-cluster.ts';
import { storeFixture } from '../../../support/store/store-fixture.ts';

const BEFORE = `DROP TABLE calls_in_progress;
  CREATE TABLE calls_in_progress (
    run_seq      INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
    model        TEXT    NOT NULL,
    input_tokens INTEGER NOT NULL,
    cost_usd     REAL    NOT NULL
  ) STRICT;`;

test('a call that was left keeps its prompt, and is charged to the user, the key and the team of its run', async () => {
  const { store, change, rows, accept, claim, user, clock } = await storeFixture();
  const inWords = (sql: string) => (isPostgres ? postgresDdl(sql) : sql);
  const team = await store.teams.create({ name: 'Red', budgetUsd: null });
  await store.users.change(user.username, { teamId: team.id });
  const { seq } = await accept();
  await claim();
  change(inWords(BEFORE));
  change(`INSERT INTO calls_in_progress (run_seq, model, input_tokens, cost_usd) VALUES (${seq}, 'deep', 700, 0.5)`);
  change(inWords(heldCalls));
  expect(rows('SELECT * FROM calls_in_progress')).toEqual([
    {
      run_seq: seq,
      attempt: 1,
      node_id: 'here',
      key_seq: 1,
      user_seq: user.seq,
      team_id: team.id,
      most_tokens: 700,
      most_usd: 0.5,
      model: 'deep',
      input_tokens: 700,
      cost_usd: 0.5,
    },
  ]);
  const payer = { keySeq: null, userSeq: null, teamId: team.id };
  const terms = { subject: 'team', unit: 'usd', period: 'all', timeZone: 'UTC', limit: 9, payer } as const;
  const { id } = await store.budgets.set(terms, clock.now);
  await store.runs.rescue('here');
  expect(await store.budgets.find(id, clock.now())).toMatchObject({ spent: 0.5 });
  expect(rows('SELECT * FROM calls_in_progress')).toEqual([]);
});
