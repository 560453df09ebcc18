// The audit log of a real daemon: what administrators look at is in it, and emptying it while the daemon is stopped is seen.
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  model.script(() => ({ text: 'High at six.' }));
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const errand = (...args: string[]) => runErrand([...args, '--data-dir', daemon.dataDir]);
const actions = async () => {
  const { stdout } = await errand('audit', 'list', '-o', 'json');
  return (JSON.parse(stdout) as { items: { action: string }[] }).items.map(({ action }) => action).toReversed();
};
/** The words and the exit code of a command that fails. */
const failing = (...args: string[]) =>
  errand(...args).then(
    () => expect.fail('it did not fail'),
    ({ code, stderr, stdout }: { code: number; stderr: string; stdout: string }) => ({ code, words: stderr + stdout }),
  );

test('what is looked at over the socket is recorded, and a log that was emptied is not intact', async () => {
  const { sessionId } = await takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: 'When?', stream: true });
  for (const verb of ['sessions', 'runs', 'sessions']) await errand(verb, 'list');
  await errand('office', '--once');
  await errand('sessions', 'show', sessionId!);
  const seen = await actions();
  expect(seen).toEqual(expect.arrayContaining(['session.list', 'run.list', 'house.read', 'session.read']));
  expect(seen.filter((action) => action === 'session.list')).toHaveLength(1);
  expect((await errand('audit', 'verify')).stdout).toContain('The audit log is intact');

  await daemon.stop();
  const database = new Connection(join(daemon.dataDir, 'errand.db'));
  database.exec('DELETE FROM audit_entries; DELETE FROM audit_head; DELETE FROM audit_start;');
  database.close();
  expect((await failing('doctor')).words).toMatch(/audit_log\s+failed\s+Entry \d+, which the log had, is missing/);
  await daemon.restart();

  const lost = /On 20.*Z, the daemon found that entry \d+, which the log had, is missing: the log was emptied/;
  expect(await failing('audit', 'verify')).toMatchObject({ code: 8, words: expect.stringMatching(lost) });
  await errand('sessions', 'list');
  expect(await failing('audit', 'verify')).toMatchObject({ code: 8, words: expect.stringMatching(lost) });
  expect(JSON.stringify(await daemon.admin('GET', '/api/v1/status'))).toMatch(lost);
});
