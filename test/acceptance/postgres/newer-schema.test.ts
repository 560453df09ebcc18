// The real binary on a database that a newer version has changed: a rolling upgrade, as the node that comes last sees it.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { type Cluster, ROLE, startCluster } from '../../support/postgres/cluster.ts';

let cluster: Cluster;
let model: ModelServer;
beforeAll(async () => {
  cluster = await startCluster();
  model = await startModelServer();
  await cluster.query('postgres', `CREATE DATABASE errand OWNER ${ROLE}`);
});
afterAll(async () => {
  await model.close();
  await cluster.close();
});

const TABLES = 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()';

/** A column more in each table, one after another: several at once could each wait for what the daemon holds. */
async function expand(): Promise<void> {
  for (const { name } of await cluster.query<{ name: string }>('errand', TABLES))
    await cluster.query('errand', `ALTER TABLE ${name} ADD COLUMN added_later BIGINT`);
  const mark = `UPDATE schema_version SET version = ${SCHEMA_VERSION + 1}, runs_with = ${SCHEMA_VERSION}`;
  await cluster.query('errand', mark);
}

test('a daemon goes on while its schema is expanded, and starts with it again; one that it does not go with is refused', async () => {
  const daemon = await startDaemonProcess({ modelServerUrl: model.url, database: cluster.url('errand') });
  onTestFinished(() => daemon.close());
  const say = (sessionId: string | null, words: string) =>
    takeTurn(daemon, { content: `Say it. [[text=${words}]]`, sessionId });
  const { sessionId } = await say(null, 'Before.');
  const during = takeTurn(daemon, { content: 'Count. [[deltas=60 every=50]]', sessionId });
  await expand();
  expect(await during).toMatchObject({ status: 200 });
  expect(await say(sessionId, 'After.')).toMatchObject({ status: 200, text: 'After.' });
  await daemon.restart();
  expect(await say(sessionId, 'Again.')).toMatchObject({ status: 200, text: 'Again.' });
  const doctor = await runErrand(['doctor', '--data-dir', daemon.dataDir, '-o', 'json']).catch(
    (failed: { stdout: string }) => failed,
  );
  const { checks } = JSON.parse(doctor.stdout) as { checks: { id: string; state: string; evidence: string }[] };
  expect(checks.find(({ id }) => id === 'database')).toMatchObject({
    state: 'ok',
    evidence: expect.stringContaining(
      `version ${SCHEMA_VERSION + 1} (of a newer Errand, and this one goes on with it)`,
    ) as string,
  });
  await daemon.stop();
  await cluster.query('errand', `UPDATE schema_version SET runs_with = ${SCHEMA_VERSION + 1}`);
  await expect(daemon.restart()).rejects.toThrow(
    `has schema version ${SCHEMA_VERSION + 1}, newer than the ${SCHEMA_VERSION} this Errand knows`,
  );
});
