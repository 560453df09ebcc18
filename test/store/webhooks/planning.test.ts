// Who hears of what was planned, whoever planned it.
import { beforeEach, expect, test } from 'vitest';
import type { Webhook } from '../../../src/domain/webhooks/webhook.ts';
import type { Planned } from '../../../src/store/webhooks/planning.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { aWebhook, renderId } from '../../support/store/webhooks.ts';

let fixture: StoreFixture;
let reports: Planned[];
/** Makes the bodies. */
let render: typeof renderId;
beforeEach(async () => {
  render = renderId;
  fixture = await storeFixture(undefined, { renderBody: (facts, target) => render(facts, target) });
  reports = [];
  fixture.store.onPlanned((planned) => {
    if (planned.webhookIds.size + planned.faults.length > 0) reports.push(planned);
  });
});

const create = (over: Parameters<typeof aWebhook>[0] = {}) => fixture.store.webhooks.create(aWebhook(over));

/** A run that its user stops: an event that nobody has planned. */
async function stopRun(): Promise<void> {
  const run = await fixture.accept();
  await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
}

test.each<[string, (other: Webhook) => Promise<unknown>]>([
  ['a new webhook', () => create()],
  ['a change of filters', ({ id }) => fixture.store.webhooks.change(id, { events: ['session.failed'] })],
  ['a webhook that is disabled', ({ id }) => fixture.store.webhooks.change(id, { enabled: false })],
])('what %s planned for others is reported', async (_, change) => {
  const [webhook, other] = [await create(), await create({ events: ['session.completed'] })];
  await stopRun();
  await change(other);
  expect(reports).toEqual([
    { more: false, webhookIds: new Set([webhook.id]), wanted: expect.anything(), faults: [], held: [] },
  ]);
});

test('what was planned before a change that is refused is reported', async () => {
  const webhook = await create();
  await stopRun();
  await expect(fixture.store.webhooks.change(99, { enabled: false })).rejects.toMatchObject({
    reason: 'not_found',
  });
  expect(reports).toMatchObject([{ webhookIds: new Set([webhook.id]) }]);
  expect(await fixture.store.deliveries.listPending(webhook.id, 9)).toHaveLength(1);
});

test('a body that a change could not make is reported', async () => {
  const { id } = await create();
  await stopRun();
  const fault = new Error('no body');
  render = () => {
    throw fault;
  };
  await fixture.store.webhooks.change(id, { events: ['session.failed'] });
  expect(reports).toMatchObject([{ faults: [fault] }]);
});
