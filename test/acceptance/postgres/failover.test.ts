// Three daemons under load, whose database server dies and whose standby takes over.
import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startInstallation } from '../../support/daemon/installation.ts';
import { takeTurn, type TurnDoor } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { type Cluster, ROLE, startCluster } from '../../support/postgres/cluster.ts';
import { startStandby, WITH_STANDBYS } from '../../support/postgres/standby.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let [primary, standby]: Cluster[] = [];

beforeAll(async () => {
  model = await startModelServer();
  primary = await startCluster({ settings: WITH_STANDBYS });
  await primary.query('postgres', `CREATE DATABASE errand OWNER ${ROLE}`);
  standby = await startStandby(primary);
  // What is acknowledged is at the standby, too.
  await primary.query('postgres', "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await primary.query('postgres', 'SELECT pg_reload_conf()');
});
afterAll(async () => {
  await standby?.close();
  await primary?.close();
  await model?.close();
});

/** Users who take one turn after another until they are told to end; returns the runs whose answer they have. */
function users(doors: readonly TurnDoor[]) {
  const answered: string[] = [];
  let isOver = false;
  const all = Promise.all(
    doors.map(async (door) => {
      while (!isOver) {
        const content = 'Note it. [[tools=1]] [[text=Noted.]] [[deltas=10 every=50]]';
        const turn = await takeTurn(door, { content }).catch(() => undefined);
        if (turn?.status === 200 && turn.error === null) answered.push(turn.runId!);
        else await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }),
  );
  return {
    answered,
    end: async () => {
      isOver = true;
      await all;
    },
  };
}

test('no acknowledged turn is lost or done twice, and what was in progress goes on', { tags: ['L7'] }, async () => {
  const current = join(temporaryDirectory(), 'current');
  symlinkSync(primary!.directory, current);
  const database = primary!.url('errand').replace(encodeURIComponent(primary!.directory), encodeURIComponent(current));
  const { nodes } = await startInstallation(3, { modelServerUrl: model.url, database }, { onTestFinished });
  const load = users([...nodes, ...nodes]);
  await waitFor(() => load.answered.length >= 12);

  const exits = nodes.map((node) => node.exited());
  await primary!.stop('SIGKILL');
  unlinkSync(current);
  symlinkSync(standby!.directory, current);
  await standby!.query('postgres', 'SELECT pg_promote(true)');
  // They may know what the standby doesn't: each ends, and whoever watches over it starts it again.
  for (const exit of await Promise.all(exits)) expect(exit).toEqual({ code: 1, signal: null });
  await Promise.all(nodes.map((node) => node.restart()));
  const before = load.answered.length;
  await waitFor(() => load.answered.length >= before + 12);
  await load.end();

  const unfinished = "SELECT id FROM runs WHERE status NOT IN ('completed', 'failed', 'canceled')";
  await waitFor(async () => (await standby!.query('errand', unfinished)).length === 0);
  const runs = await standby!.query<{ id: string; status: string; ends: number; writes: number }>(
    'errand',
    `SELECT id, status,
       (SELECT count(*) FROM events e WHERE e.run_seq = r.seq AND e.type IN ('run.done', 'run.failed'))::int AS ends,
       (SELECT count(*) FROM tool_calls c WHERE c.run_seq = r.seq)::int AS writes FROM runs r`,
  );
  expect(runs.filter(({ status, ends, writes }) => status !== 'completed' || ends !== 1 || writes !== 1)).toEqual([]);
  const kept = new Set(runs.map(({ id }) => id));
  expect(load.answered.filter((id) => !kept.has(id))).toEqual([]);
});
