// Configurations of webhooks as the store keeps them.
import { beforeEach, expect, test } from 'vitest';
import { ownerScopeOf, scopeOf, secretContextOf, WEBHOOK_LIMITS } from '../../../src/domain/webhooks/webhook.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { aWebhook } from '../../support/store/webhooks.ts';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await storeFixture();
});

const PAGE = { limit: 9, offset: 0, ownerScope: null, userSeq: null, enabled: null };
const create = (over: Parameters<typeof aWebhook>[0] = {}) => fixture.store.webhooks.create(aWebhook(over));
const sealed = (id: number) => Buffer.from(`sealed for ${secretContextOf(id)}`);

test('a webhook is kept as it was given, and its secret is sealed for it', { tags: ['§2.15-fields'] }, async () => {
  const given = { userSeq: fixture.user.seq, projectId: 'mill', sessionKinds: ['api'] as const, sealSecret: sealed };
  const webhook = await create(given);
  const { sealSecret, ...configuration } = aWebhook(given);
  expect(webhook).toMatchObject({
    ...configuration,
    hasSecret: sealSecret !== null,
    failures: 0,
    disabledReason: null,
  });
  expect([ownerScopeOf(webhook), scopeOf(webhook)]).toEqual(['user', 'project']);
  expect(await fixture.store.webhooks.find(webhook.id)).toEqual({ ...webhook, username: 'mara' });
  const target = await fixture.store.deliveries.findTarget(webhook.id, 0);
  expect(target?.secret).toEqual(Buffer.from(`sealed for webhook:${webhook.id}`));
});

test('a rotation keeps the secret before for a day, and one that is taken away leaves none', async () => {
  const { id } = await create({ sealSecret: sealed });
  const secrets = async () => {
    const target = await fixture.store.deliveries.findTarget(id, fixture.clock.now());
    return [target?.secret?.toString(), target?.previousSecret?.toString()];
  };
  await fixture.store.webhooks.rotateSecret(id, Buffer.from('second'));
  expect(await secrets()).toEqual(['second', `sealed for webhook:${id}`]);
  fixture.clock.advance(24 * 3_600_000 - 1);
  expect(await secrets()).toEqual(['second', `sealed for webhook:${id}`]);
  fixture.clock.advance(1);
  expect(await secrets()).toEqual(['second', undefined]);
  await fixture.store.webhooks.rotateSecret(id, Buffer.from('third'));
  await fixture.store.webhooks.rotateSecret(id, null);
  expect(await secrets()).toEqual([undefined, undefined]);
  await fixture.store.webhooks.rotateSecret(id, Buffer.from('fourth'));
  expect(await secrets()).toEqual(['fourth', undefined]);
});

test('lists are of an owner scope, of a user, or of what is enabled', { tags: ['§4.9-list'] }, async () => {
  const own = await create({ userSeq: fixture.user.seq });
  const system = await create();
  const off = await create({ enabled: false });
  const ids = async (filter: object) =>
    (await fixture.store.webhooks.list({ ...PAGE, ...filter })).items.map(({ id }) => id);
  expect(await ids({})).toEqual([own.id, system.id, off.id]);
  expect(await ids({ ownerScope: 'system' })).toEqual([system.id, off.id]);
  expect(await ids({ ownerScope: 'user' })).toEqual([own.id]);
  expect(await ids({ userSeq: fixture.user.seq })).toEqual([own.id]);
  expect(await ids({ enabled: false })).toEqual([off.id]);
  expect(await ids({ offset: 1, limit: 1 })).toEqual([system.id]);
  expect((await fixture.store.webhooks.list({ ...PAGE, limit: 1 })).total).toBe(3);
});

test('a deleted webhook is gone, and its id is not given again', async () => {
  const { id } = await create();
  await fixture.store.webhooks.delete(id);
  expect(await fixture.store.webhooks.find(id)).toBeUndefined();
  await expect(fixture.store.webhooks.change(id, { name: 'x' })).rejects.toMatchObject({ reason: 'not_found' });
  await expect(fixture.store.webhooks.rotateSecret(id, null)).rejects.toMatchObject({ reason: 'not_found' });
  expect((await fixture.store.webhooks.list(PAGE)).total).toBe(0);
  while (await fixture.store.deliveries.pruneDeleted());
  expect(fixture.rows('SELECT id FROM webhooks')).toEqual([]);
  expect((await create()).id).toBeGreaterThan(id);
});

test.each(['user', 'system'] as const)('an owner of the scope %s has a bounded number of webhooks', async (scope) => {
  const [userSeq, other] = scope === 'user' ? [fixture.user.seq, null] : [null, fixture.user.seq];
  for (let count = 0; count < WEBHOOK_LIMITS.perOwner[scope]; count += 1) await create({ userSeq });
  await expect(create({ userSeq })).rejects.toMatchObject({ reason: 'conflict' });
  await create({ userSeq: other });
});
