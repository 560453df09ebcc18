// A node that is told to end while somebody waits there for a page: whoever repeats the request elsewhere gets one page, not two.
import { expect, onTestFinished, test } from 'vitest';
import { startInstallation } from '../../support/daemon/installation.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { startHookReceiver } from '../../support/http/hook-receiver.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** More than what is a row of the database. */
const LARGE = 'x'.repeat(70_000);
const WRITE = { name: 'write_file', input: { path: '/site/index.html', content: LARGE } };
const AWAY = { status: 503, code: 'SlowDown' };

test('who waits for files at a node that ends is refused, and no page is made of the request later', {
  tags: ['L7'],
}, async () => {
  const receiver = await startHookReceiver();
  onTestFinished(receiver.off);
  const model = await startModelServer({ record: false });
  onTestFinished(() => model.close());
  const errandYaml = 'egress: { allow: [{ cidr: 127.0.0.1/32, for: [webhook] }] }\n';
  const { nodes, s3 } = await startInstallation(2, { errandYaml, modelServerUrl: model.url }, { onTestFinished });
  const [north, south] = [nodes[0]!, nodes[1]!];
  // The attempt that is never answered keeps the services of the leader, and its database, open for some seconds of its end.
  receiver.answer(() => new Promise(() => undefined));
  const hook = { name: 'slow', url: `${receiver.url}/slow`, events: ['session.completed'], owner_scope: 'system' };
  await south.admin('POST', '/api/v1/webhooks', hook);
  model.script(() => ({ text: 'Hi.' }));
  await takeTurn(north, { content: 'Hi' });
  await waitFor(() => receiver.received.length > 0);

  s3.fault = ({ method }) => (method === 'PUT' ? AWAY : undefined);
  model.script(({ step }) => (step === 0 ? { tools: [WRITE] } : { text: 'Done.' }));
  const { sessionId } = await takeTurn(south, { content: 'Make it.' });
  await waitFor(() => s3.asked.some(({ method }) => method === 'PUT'));
  process.kill(south.pid(), 'SIGSTOP');
  s3.fault = () => undefined;
  const asked = fetch(`${north.url}/api/v1/publishes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${north.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ebb', session_id: sessionId, entry_path: '/site/index.html' }),
  }).then(
    ({ status }) => status,
    (error: unknown) => String((error as Error).cause),
  );
  // What was sent later is answered already.
  await north.admin('GET', '/api/v1/publishes');
  const ended = north.stop();
  const answer = await asked;
  process.kill(south.pid(), 'SIGCONT');
  expect((await ended).code).toBe(0);
  const { items } = (await south.admin('GET', '/api/v1/publishes')) as { items: object[] };
  expect([answer, items.length]).toEqual([503, 0]);
});
