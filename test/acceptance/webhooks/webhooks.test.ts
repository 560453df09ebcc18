// Webhooks of a real daemon to a real receiver: verified, tried again, and sent again after a crash, with one event id.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { openTurn, readTurn, takeTurn } from '../../support/daemon/turn.ts';
import { type HookReply, type Received, startHookReceiver } from '../../support/http/hook-receiver.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const SECRET = `whsec_${Buffer.from('thirty-two bytes that nobody has').toString('base64')}`;
const NO_REPLY = new Promise<HookReply>(() => undefined);

interface Delivery {
  readonly id: number;
  readonly state: string;
  readonly event_id: string;
  readonly attempt_count: number;
  readonly next_attempt_at: string | null;
  readonly last_error: string | null;
}

interface DeliveryRecord extends Delivery {
  readonly body: string;
  readonly attempts: readonly { readonly status_code: number | null; readonly error: string | null }[];
}

async function start() {
  const model = await startModelServer({ record: false });
  const daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'egress: { allow: [{ cidr: 127.0.0.1, for: [webhook] }] }\n',
  });
  const receiver = await startHookReceiver();
  onTestFinished(async () => {
    await daemon.close();
    await model.close();
    await receiver.off();
  });

  /** Creates a system webhook, unless `fields` says otherwise; answers its id. */
  const createHook = async (fields: object = {}): Promise<number> => {
    const defaults = { name: 'Ledger', url: `${receiver.url}/hook`, events: ['session.completed'], secret: SECRET };
    const pace = { retry_backoff_ms: 100, timeout_ms: 30_000 };
    const owner = 'user' in fields ? {} : { owner_scope: 'system' };
    const made = await daemon.admin('POST', '/api/v1/webhooks', { ...defaults, ...pace, ...owner, ...fields });
    return (made as { id: number }).id;
  };
  /** Creates a user; answers a function that takes a turn of theirs. */
  const join = async (username: string) => {
    await daemon.admin('POST', '/api/v1/users', { username });
    const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: username, scope: 'conversation' })) as {
      key: string;
    };
    return async () => takeTurn({ url: daemon.url, apiKey: key }, { content: 'Hi' });
  };
  return { model, daemon, receiver, createHook, join };
}

/** The newest delivery, once it is as wanted. */
const deliveryWhen = (daemon: DaemonProcess, webhookId: number, isWanted: (delivery: Delivery) => boolean) =>
  waitFor(async () => {
    const path = `/api/v1/webhooks/${webhookId}/deliveries?limit=1`;
    const { items } = (await daemon.admin('GET', path)) as { items: Delivery[] };
    return items[0] !== undefined && isWanted(items[0]) ? items[0] : undefined;
  });

/** The receiver of §6.4: why it rejects a request, or null. */
function rejects({ headers, body }: Received, secret: string): string | null {
  const timestamp = headers['x-service-timestamp'];
  const signature = headers['x-service-signature'];
  if (typeof timestamp !== 'string' || Number.isNaN(Date.parse(timestamp))) return 'an invalid timestamp';
  if (Math.abs(Date.now() - Date.parse(timestamp)) > 300_000) return 'excessive skew';
  if (typeof signature !== 'string') return 'a missing signature';
  const signed = Buffer.concat([Buffer.from(timestamp), Buffer.from('.'), body]);
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected) ? null : 'a wrong signature';
}

const eventOf = ({ body }: Received) =>
  JSON.parse(body.toString()) as {
    event_id: string;
    event_type: string;
    is_test: boolean;
    user: { username: string };
    run: { run_id: string };
    summary: { has_artifacts: boolean };
  };

test('a delivery is verified by its receiver, tried again, and survives kills of the daemon', {
  tags: ['§5-rule-6', 'H3-at-least-once'],
}, async () => {
  const { daemon, receiver, createHook, join } = await start();
  const { received } = receiver;
  const webhookId = await createHook();
  const turn = await join('ada');

  await turn();
  const delivered = await deliveryWhen(daemon, webhookId, ({ state }) => state === 'delivered');
  const [first] = received;
  expect(new Webhook(SECRET).verify(first!.body, first!.headers as Record<string, string>)).toEqual(eventOf(first!));
  expect(rejects(first!, SECRET)).toBeNull();
  expect(rejects(first!, `${SECRET}!`)).toBe('a wrong signature');
  expect(eventOf(first!)).toMatchObject({ event_type: 'session.completed', event_id: delivered.event_id });

  await receiver.off();
  await turn();
  const failing = await deliveryWhen(daemon, webhookId, ({ attempt_count: count }) => count >= 2);
  expect(failing).toMatchObject({ state: 'pending', last_error: expect.stringContaining('refused the connection') });
  await daemon.kill();
  await receiver.on();
  await daemon.restart();
  await deliveryWhen(daemon, webhookId, ({ id, state }) => id === failing.id && state === 'delivered');
  expect(received.map(({ eventId }) => eventId)).toEqual([delivered.event_id, failing.event_id]);

  receiver.answer(() => NO_REPLY);
  await turn();
  await waitFor(() => received.length === 3);
  await daemon.kill();
  receiver.answer(() => 204);
  await daemon.restart();
  await deliveryWhen(daemon, webhookId, ({ state, attempt_count: count }) => state === 'delivered' && count === 1);
  const [, , sent, again] = received;
  expect(received).toHaveLength(4);
  expect(again!.body.equals(sent!.body)).toBe(true);
  expect(again!.headers['webhook-id']).toBe(sent!.headers['webhook-id']);
  expect([sent, again].map((one) => rejects(one!, SECRET))).toEqual([null, null]);
});

test('a test event is sent when the filters let it pass, and held back with each reason', {
  tags: ['§4.9-test', '§6.6-reasons'],
}, async () => {
  const { daemon, receiver, createHook } = await start();
  const path = `/api/v1/webhooks/${await createHook({ user: daemon.adminName })}`;
  const probe = (type = 'session.completed') => daemon.admin('POST', `${path}/test`, { event_type: type });

  expect(await probe()).toMatchObject({ delivered: true, matched: true, filtered_reason: null, status_code: 204 });
  expect(eventOf(receiver.received[0]!)).toMatchObject({ is_test: true, user: { username: daemon.adminName } });
  expect(rejects(receiver.received[0]!, SECRET)).toBeNull();

  expect(await probe('user_input.requested')).toMatchObject({ filtered_reason: 'event_type_filtered' });
  const reasons = [
    [{ session_kinds: ['api'] }, 'session_kind_filtered'],
    [{ session_kinds: null, scope: 'project', project_id: crypto.randomUUID() }, 'session_project_missing'],
    [{ enabled: false }, 'disabled'],
  ] as const;
  for (const [change, reason] of reasons) {
    await daemon.admin('PATCH', path, change);
    expect(await probe()).toMatchObject({ delivered: false, matched: false, filtered_reason: reason });
  }
  expect(receiver.received).toHaveLength(1);
});

test('what failed while its receiver was away shows its attempts, and is delivered again with the same bytes', async () => {
  const { daemon, receiver, createHook, join } = await start();
  const webhookId = await createHook({ retry_count: 1 });
  const turn = await join('ada');
  await receiver.off();
  await turn();
  const { id, event_id: eventId } = await deliveryWhen(daemon, webhookId, ({ state }) => state === 'failed');
  const read = async () => (await daemon.admin('GET', `/api/v1/webhook-deliveries/${id}`)) as DeliveryRecord;
  const failed = await read();
  const refused = { status_code: null, error: expect.stringContaining('refused the connection') };
  expect(failed).toMatchObject({ attempt_count: 2, next_attempt_at: null, attempts: [refused, refused] });

  await receiver.on();
  await daemon.admin('POST', `/api/v1/webhook-deliveries/${id}/redeliver`);
  await deliveryWhen(daemon, webhookId, ({ state }) => state === 'delivered');
  expect((await read()).attempts).toMatchObject([refused, refused, { status_code: 204, error: null }]);
  await daemon.admin('POST', '/api/v1/webhook-deliveries/redeliver', {
    webhook_id: webhookId,
    since: '2000-01-01T00:00:00Z',
    state: 'delivered',
  });
  await deliveryWhen(daemon, webhookId, ({ attempt_count: count }) => count === 4);
  expect(receiver.received.map(({ eventId: of, body }) => [of, body.toString()])).toEqual([
    [eventId, failed.body],
    [eventId, failed.body],
  ]);
});

test("a user's webhook gets that user's events only, and a system webhook those of all", {
  tags: ['§6.2-system'],
}, async () => {
  const { daemon, receiver, createHook, join } = await start();
  const [adaTurn, benTurn] = [await join('ada'), await join('ben')];
  for (const user of ['ada', 'ben']) await createHook({ user, url: `${receiver.url}/${user}` });
  const ofSystem = await createHook({ url: `${receiver.url}/system` });
  await adaTurn();
  await benTurn();
  await adaTurn();
  await waitFor(async () => {
    const { total } = (await daemon.admin('GET', '/api/v1/webhook-deliveries?state=delivered')) as { total: number };
    return total === 6;
  });
  expect(await daemon.admin('GET', `/api/v1/webhooks/${ofSystem}/deliveries`)).toMatchObject({ total: 3 });
  const usersAt = (path: string) =>
    receiver.received.filter((one) => one.path === path).map((one) => eventOf(one).user.username);
  expect([usersAt('/ada'), usersAt('/ben')]).toEqual([['ada', 'ada'], ['ben']]);
  expect(usersAt('/system').toSorted()).toEqual(['ada', 'ada', 'ben']);
});

test('a stop is sent once however often it is requested, a question when it is asked and when it is answered', {
  tags: ['§3.3-confirmed', '§3.4-pending', '§3.4-answered'],
}, async () => {
  const { model, daemon, receiver, createHook, join } = await start();
  const typesOf = () => receiver.received.map(({ eventType }) => eventType);
  const events = ['session.completed', 'session.stopped', 'user_input.requested', 'user_input.answered'];
  await createHook({ events });
  const turn = await join('ada');
  const target = { url: daemon.url, apiKey: daemon.apiKey };
  const post = (path: string, body: object = {}) =>
    fetch(`${daemon.url}/openapi/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  model.script(replyFromDirectives);
  const hanging = await openTurn(target, { stream: true, content: '[[deltas=4]] [[hang=mid-stream after=2]]' });
  const sessionId = hanging.headers.get('x-session-id');
  const behind = [1, 2].map(async () => openTurn(target, { stream: true, content: 'Behind it.', sessionId }));
  await Promise.all(behind);
  const stop = () => post(`sessions/${sessionId}/stop`);
  const answers = [await stop(), await stop()];
  expect(await answers[0]!.json()).toMatchObject({ cancelled_runs: 3 });
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  await waitFor(() => typesOf().includes('session.stopped'));
  const sent = receiver.received.find(({ eventType }) => eventType === 'session.stopped')!;
  expect(JSON.parse(sent.body.toString())).toMatchObject({ run: { run_id: hanging.headers.get('x-run-id') } });

  model.script((request) =>
    JSON.stringify(request.body.messages).includes('The second one')
      ? { text: 'Thank you.' }
      : { tools: [{ name: 'ask_user', input: { question: 'Which one?' } }] },
  );
  const asking = await openTurn(target, { stream: true, content: 'Ask me.' });
  const asked = await waitFor(() => receiver.received.find(({ eventType }) => eventType === 'user_input.requested'));
  const { user_input: question } = JSON.parse(asked.body.toString()) as { user_input: { request_id: string } };
  expect(question).toMatchObject({ status: 'pending', answers: null, tool_input: { question: 'Which one?' } });
  await post(`user-inputs/${question.request_id}/answer`, { answers: 'The second one' });
  await readTurn(asking);
  const answered = await waitFor(() => receiver.received.find(({ eventType }) => eventType === 'user_input.answered'));
  expect(JSON.parse(answered.body.toString())).toMatchObject({
    user_input: { request_id: question.request_id, status: 'answered', answers: 'The second one' },
  });
  // Events are planned in their order: with the end of a later run, all before it are known.
  model.script(replyFromDirectives);
  await turn();
  await waitFor(() => typesOf().filter((type) => type === 'session.completed').length === 2);
  expect(
    typesOf()
      .filter((type) => type !== 'session.completed')
      .toSorted(),
  ).toEqual(['session.stopped', 'user_input.answered', 'user_input.requested']);
});

test('the end of a run says that there are artifacts if there are, and they can be fetched then', {
  tags: ['§6.5-has_artifacts'],
}, async () => {
  const { model, daemon, receiver, createHook } = await start();
  await createHook();
  const write = { name: 'write_file', input: { path: 'tides.md', content: 'High.' } };
  const read = { name: 'list_files', input: {} };
  const say = { name: 'shell', input: { command: 'echo hi' } };
  const said: [string, boolean, number][] = [];
  for (const [name, tool] of Object.entries({ write, read, say })) {
    model.script(({ step }) => (step === 0 ? { tools: [tool] } : { text: 'Done.' }));
    const { runId } = await takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: name });
    const sent = await waitFor(() =>
      receiver.received.map((one) => eventOf(one)).find(({ run }) => run.run_id === runId),
    );
    const headers = { authorization: `Bearer ${daemon.apiKey}` };
    const found = await fetch(`${daemon.url}/openapi/v1/runs/${runId}/artifacts`, { headers });
    const { file_count: count } = (await found.json()) as { file_count: number };
    said.push([name, sent.summary.has_artifacts, count]);
  }
  expect(said).toEqual([
    ['write', true, 1],
    ['read', false, 0],
    ['say', false, 0],
  ]);
});

test('a receiver that wants no more is disabled, and the status says so', { tags: ['H3-410'] }, async () => {
  const { daemon, receiver, createHook, join } = await start();
  const webhookId = await createHook();
  const turn = await join('ada');
  receiver.answer(() => 410);
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
  // It is written after the row, and comes by another way than the status.
  await waitFor(() => daemon.stderr().includes('A webhook was disabled.'));
});
