// Webhooks of a real daemon to a real receiver: verified, tried again, and sent again after a crash, with one event id.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { takeTurn } from '../support/daemon/turn.ts';
import { startModelServer } from '../support/model/model-server.ts';
import { waitFor } from '../support/time/wait-for.ts';

const SECRET = `whsec_${Buffer.from('thirty-two bytes that nobody has').toString('base64')}`;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly event: { readonly event_id: string; readonly event_type: string };
}

interface Delivery {
  readonly id: number;
  readonly state: string;
  readonly event_id: string;
  readonly attempt_count: number;
  readonly last_error: string | null;
}

/** A receiver that can be closed and opened again at its address. It replies with `status`; null holds the request. */
async function startReceiver() {
  const received: Received[] = [];
  const receiver = { status: 200 as number | null, received };
  const reply = async (req: AsyncIterable<Buffer> & { headers: IncomingHttpHeaders }, res: ServerResponse) => {
    const body = await buffer(req);
    received.push({ headers: req.headers, body, event: JSON.parse(body.toString()) as Received['event'] });
    if (receiver.status !== null) res.writeHead(receiver.status).end('noted');
  };
  let server: Server | undefined;
  let port = 0;
  const open = async () => {
    server = createServer((req, res) => void reply(req, res));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  const close = () => {
    server?.close();
    server?.closeAllConnections();
  };
  await open();
  onTestFinished(close);
  return Object.assign(receiver, { open, close, url: `http://127.0.0.1:${port}/hook` });
}

async function start() {
  const model = await startModelServer({ record: false });
  const daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'egress: { allow: [{ cidr: 127.0.0.1, for: [webhook] }] }\n',
  });
  onTestFinished(async () => {
    await daemon.close();
    await model.close();
  });
  const receiver = await startReceiver();
  const { id } = (await daemon.admin('POST', '/api/v1/webhooks', {
    name: 'Ledger',
    url: receiver.url,
    events: ['session.completed'],
    owner_scope: 'system',
    secret: SECRET,
    retry_backoff_ms: 100,
    timeout_ms: 30_000,
  })) as { id: number };
  await daemon.admin('POST', '/api/v1/users', { username: 'ada' });
  const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: 'ada', scope: 'conversation' })) as {
    key: string;
  };
  return { daemon, receiver, webhookId: id, turn: () => takeTurn({ url: daemon.url, apiKey: key }, { content: 'Hi' }) };
}

/** The newest delivery, once it is as wanted. */
const deliveryWhen = (daemon: DaemonProcess, webhookId: number, isWanted: (delivery: Delivery) => boolean) =>
  waitFor(async () => {
    const path = `/api/v1/webhooks/${webhookId}/deliveries?limit=1`;
    const { items } = (await daemon.admin('GET', path)) as { items: Delivery[] };
    return items[0] !== undefined && isWanted(items[0]) ? items[0] : undefined;
  });

test('a delivery is verified by its receiver, tried again, and survives kills of the daemon', async () => {
  const { daemon, receiver, webhookId, turn } = await start();
  const { received } = receiver;

  await turn();
  const delivered = await deliveryWhen(daemon, webhookId, ({ state }) => state === 'delivered');
  const [first] = received;
  expect(new Webhook(SECRET).verify(first!.body, first!.headers as Record<string, string>)).toEqual(first!.event);
  expect(first!.event).toMatchObject({ event_type: 'session.completed', event_id: delivered.event_id });

  receiver.close();
  await turn();
  const failing = await deliveryWhen(daemon, webhookId, ({ attempt_count: count }) => count >= 2);
  expect(failing).toMatchObject({ state: 'pending', last_error: expect.stringContaining('refused the connection') });
  await daemon.kill();
  await receiver.open();
  await daemon.restart();
  await deliveryWhen(daemon, webhookId, ({ id, state }) => id === failing.id && state === 'delivered');
  expect(received.map(({ event }) => event.event_id)).toEqual([delivered.event_id, failing.event_id]);

  receiver.status = null;
  await turn();
  await waitFor(() => received.length === 3);
  await daemon.kill();
  receiver.status = 200;
  await daemon.restart();
  await deliveryWhen(daemon, webhookId, ({ state, attempt_count: count }) => state === 'delivered' && count === 1);
  const [, , sent, again] = received;
  expect(received).toHaveLength(4);
  expect(again!.body.equals(sent!.body)).toBe(true);
  expect(again!.headers['webhook-id']).toBe(sent!.headers['webhook-id']);
});

test('a receiver that wants no more is disabled, and the status says so', async () => {
  const { daemon, receiver, webhookId, turn } = await start();
  receiver.status = 410;
  await turn();
  await deliveryWhen(daemon, webhookId, ({ state }) => state === 'failed');
  const status = await waitFor(async () => {
    const { webhooks } = (await daemon.admin('GET', '/api/v1/status')) as { webhooks: { disabled: number } };
    return webhooks.disabled === 1 ? webhooks : undefined;
  });
  expect(status).toMatchObject({
    failing: 0,
    troubled: [{ id: webhookId, name: 'Ledger', disabled_reason: expect.stringContaining('status 410') }],
  });
  expect(daemon.stderr()).toContain('A webhook was disabled.');
});
