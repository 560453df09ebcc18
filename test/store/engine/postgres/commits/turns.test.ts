// Processes that share a database: who has lost its node commits nothing, numbers are in the order of their coming, and words are heard.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { openPostgres } from '../../../../../src/store/engine/postgres/open-database.ts';
import { NO_ALARMS } from '../../../../../src/store/engine/database.ts';
import type { Reader, Step, Transaction } from '../../../../../src/store/engine/statement.ts';
import { makeStore } from '../../../../../src/store/open-store.ts';
import { renderBody } from '../../../../../src/webhooks/bodies/render-body.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { addressOf } from '../../../../support/postgres/address-of.ts';
import { databaseFor } from '../../../../support/postgres/shared-cluster.ts';
import { aSharing } from '../../../../support/postgres/sharing.ts';
import { changeRows } from '../../../../support/store/open-store.ts';
import { aNode, nodeId } from '../../../../support/store/nodes.ts';
import { waitFor } from '../../../../support/time/wait-for.ts';

const USER = `INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
  VALUES ('somebody', 'somebody', '', '', 'user', '', 0, 0)`;
const INSERT = `INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at)
  VALUES (?, (SELECT min(seq) FROM users), 'chat', '', 'completed', 0, 0)`;

/** Processes on one database, each with a node. */
async function processes(count: number) {
  const file = join(temporaryDirectory(), 'errand.db');
  const url = databaseFor(file);
  changeRows(file, USER);
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const sharing = aSharing();
      const lost: unknown[] = [];
      const times: number[] = [];
      const follow = (now: number) => void times.push(now);
      const alarms = { ...NO_ALARMS, lost: (error: unknown) => void lost.push(error) };
      const database = openPostgres(addressOf(url), systemClock, {
        sharing: { ...sharing, follow },
        connections: 4,
        alarms,
      });
      onTestFinished(() => database.close());
      const { nodes } = makeStore(database, renderBody);
      const facts = aNode({ id: nodeId(at + 1), process: sharing.process });
      await nodes.beat(facts, null);
      database.peers!.fence(true);
      const add = database.write(function* (tx: Transaction, name: string): Step<number> {
        return yield* tx.insert(INSERT, name);
      });
      const count = database.read((tx: Reader) =>
        tx.all<{ id: string }>("SELECT id FROM sessions WHERE kind = 'chat' ORDER BY seq"),
      );
      return { database, nodes, facts, add, lost, times, listed: async () => (await count()).map(({ id }) => id) };
    }),
  );
}

test('a process whose node was taken for lost commits nothing more, and says so once; the others go on', {
  tags: ['L4'],
}, async () => {
  const [one, two] = (await processes(2)) as [Process, Process];
  await one.add('before');
  const row = (await two.nodes.list()).find(({ id }) => id === one.facts.id)!;
  expect(await two.nodes.takeOver(row)).toEqual({ settled: 0, interrupted: 0 });
  await expect(Promise.all([one.add('late'), one.add('later')])).rejects.toMatchObject({ reason: 'unavailable' });
  await expect(one.nodes.beat(one.facts, null)).rejects.toMatchObject({ reason: 'unavailable' });
  expect(one.lost.map(String)).toEqual([expect.stringContaining('took this node for lost')]);
  await two.add('after');
  expect(await two.listed()).toEqual(['before', 'after']);
});

test('rows of several processes are numbered in the order in which they came, and each learns the time of the database', {
  tags: ['L3'],
}, async () => {
  const all = await processes(3);
  const names = Array.from({ length: 30 }, (_, at) => `session ${at}`);
  for (const [at, name] of names.entries()) await all[at % 3]!.add(name);
  expect(await all[0]!.listed()).toEqual(names);
  for (const { times } of all) expect(times.length).toBeGreaterThanOrEqual(10);
});

test('what one process says the others hear, and not itself; who begins to hear is told that it may have missed something', {
  tags: ['L7'],
}, async () => {
  const [one, two] = (await processes(2)) as [Process, Process];
  const heard: [string, string | null][] = [];
  for (const [name, { database }] of Object.entries({ one, two }))
    database.peers!.onTold((words) => void heard.push([name, words]));
  await waitFor(() => {
    one.database.peers!.tell('something changed');
    return heard.some(([name, words]) => name === 'two' && words === 'something changed');
  });
  expect(heard.filter(([name, words]) => name === 'one' && words !== null)).toEqual([]);
});

type Process = Awaited<ReturnType<typeof processes>>[number];
