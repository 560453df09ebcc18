// The order of the journal with several writers: who reads on from a cursor skips no event, and sees none twice.
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { openPostgres } from '../../../../../src/store/engine/postgres/open-database.ts';
import type { Reader, Step, Transaction } from '../../../../../src/store/engine/statement.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { addressOf } from '../../../../support/postgres/address-of.ts';
import { databaseFor } from '../../../../support/postgres/shared-cluster.ts';
import { waitFor } from '../../../../support/time/wait-for.ts';
import { aSharing } from '../../../../support/postgres/sharing.ts';

/** What becomes of a transaction between its insert of events and its end, by the name of the team that it adds. */
const FATES = `CREATE FUNCTION meet_fate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.name LIKE 'late%' THEN PERFORM pg_sleep(random() * 0.01); END IF;
    IF NEW.name LIKE 'abort%' THEN RAISE EXCEPTION 'aborted'; END IF;
    IF NEW.name LIKE 'die%' THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER fate AFTER INSERT ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION meet_fate()`;
const KINDS = ['soon', 'late', 'soon', 'late', 'abort', 'soon', 'die', 'late'];
const [STORES, CALLERS, CALLS] = [3, 3, 16];

test('writers commit late, abort, and die between insert and commit', { timeout: 240_000 }, async () => {
  const url = databaseFor(join(temporaryDirectory(), 'errand.db'));
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(FATES);

  const stores = Array.from({ length: STORES }, (_, store) => {
    const database = openPostgres(addressOf(url), systemClock, { sharing: aSharing(), connections: 4 });
    onTestFinished(() => database.close());
    const published: number[] = [];
    database.onCommitted((events) => void published.push(...events.map(({ id }) => id)));
    const tries = new Map<string, number>();
    const add = database.write(function* (tx: Transaction, kind: string, name: string): Step<void> {
      const times = (tries.get(name) ?? 0) + 1;
      tries.set(name, times);
      // Who dies, dies once.
      const fate = kind === 'die' && times > 1 ? 'soon' : kind;
      const team = `${fate} ${name}`;
      yield* tx.run('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', team, team);
      for (let at = 0; at < 3; at += 1) tx.emit(store, null, { type: 'session.deleted', payload: { title: team } });
    });
    return { database, published, add, store };
  });
  await Promise.all(stores.map(({ database }) => database.answered()));

  /** Reads on from its cursor as long as anything is written, as whoever follows the journal does. */
  const seen: number[] = [];
  const readAfter = stores[0]!.database.read((tx: Reader, id: number) =>
    tx.all<{ id: number }>('SELECT id FROM events WHERE id > ? ORDER BY id LIMIT 5', id),
  );
  let isWriting = true;
  const following = (async () => {
    for (;;) {
      const wasWriting = isWriting;
      const found = await readAfter(seen.at(-1) ?? 0);
      seen.push(...found.map(({ id }) => id));
      if (found.length === 0 && !wasWriting) return;
    }
  })();

  const calls = stores.flatMap(({ add, store }) =>
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let call = 0; call < CALLS; call += 1) {
        const kind = KINDS[(call + caller + store) % KINDS.length]!;
        const done = await add(kind, `${store} ${caller} ${call}`).then(
          () => 'done',
          (error: unknown) => String(error),
        );
        if (kind === 'abort' ? !done.includes('aborted') : done !== 'done') throw new Error(`${kind}: ${done}`);
      }
    }),
  );
  await Promise.all(calls).finally(() => {
    isWriting = false;
  });
  await following;
  const { rows } = await client.query<{ id: string; title: string }>(
    "SELECT id, payload::jsonb ->> 'title' AS title FROM events ORDER BY id",
  );
  const ids = rows.map(({ id }) => Number(id));
  // All that was done, once.
  const teams = rows.map(({ title }) => title);
  expect(new Set(teams).size * 3).toBe(teams.length);
  expect(teams.some((title) => /^(abort|die)/.test(title))).toBe(false);
  expect(seen).toEqual(ids);
  for (const { published } of stores) {
    await waitFor(() => published.at(-1) === ids.at(-1));
    expect(published).toEqual(ids);
  }
});
