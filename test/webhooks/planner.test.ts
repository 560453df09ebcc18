// The planner at work: woken by what is committed, and by nothing that no webhook wants.
import { ASLEEP } from '../support/events/asleep.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { makeBus } from '../../src/events/bus.ts';
import { makeWakes } from '../../src/events/wakes.ts';
import { makeSweeper } from '../../src/execution/artifacts/removal/sweeper.ts';
import { openBlobsInFiles } from '../support/files/blobs-in-files.ts';
import { makeWorkspaces } from '../../src/files/workspaces.ts';
import { makeLog } from '../../src/log/log.ts';
import { makePlanner, type Planner } from '../../src/webhooks/planner.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../support/store/store-fixture.ts';
import { aWebhook } from '../support/store/webhooks.ts';
import { waitFor } from '../support/time/wait-for.ts';

const log = makeLog({ level: 'fatal' });
const sleep = () => undefined;

let fixture: StoreFixture;
let planner: Planner;
/** Looks of the planner into the store, which it can reach by nothing else. */
let looks: number;
let planned: number[];
let refuse: (() => void) | undefined;
/** Resolves when the planner may read what a plan returned. */
let hold: Promise<void> | undefined;

beforeEach(async () => {
  fixture = await storeFixture();
  [looks, planned, refuse, hold] = [0, [], undefined, undefined];
  planner = makePlanner({
    store: {
      deliveries: {
        plan: async (options) => {
          looks += 1;
          refuse?.();
          const result = await fixture.store.deliveries.plan(options);
          await hold;
          return result;
        },
        releaseHeld: (held) => {
          looks += 1;
          return fixture.store.deliveries.releaseHeld(held);
        },
        listHeld: fixture.store.deliveries.listHeld,
      },
    },
    hasPeers: false,
    clock: fixture.clock,
    log,
  });
  fixture.store.onPlanned(({ webhookIds }) => void planned.push(...webhookIds));
  onTestFinished(() => planner.stop());
  const bus = makeBus();
  fixture.store.onCommitted(bus.publish);
  makeWakes().follow(bus, { ...ASLEEP, planner: (_, occasion) => planner.notice(occasion) });
});

async function create(over: Parameters<typeof aWebhook>[0] = {}) {
  const webhook = await fixture.store.webhooks.create(aWebhook(over));
  planner.wake();
  await planner.settled();
  return webhook;
}

async function endRun(turn: object = {}) {
  await fixture.accept(turn);
  const [run] = await fixture.claim();
  await fixture.store.runs.recordStep(fenceOf(run!), aStep(), FREE);
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run!));
  await planner.settled();
  return run!;
}

test('the end of a run is planned once it is committed, and its webhooks are reported', async () => {
  const [first, second] = [await create(), await create()];
  await create({ events: ['session.failed'] });
  await endRun();
  expect(planned).toEqual([first.id, second.id]);
  expect(await fixture.store.deliveries.listPending(first.id, 9)).toHaveLength(1);
});

test('an event that no webhook wants costs nothing', async () => {
  await create({ events: ['user_input.requested', 'publish_page.published'] });
  looks = 0;
  await endRun();
  expect(looks).toBe(0);
});

test('without a webhook, a run costs nothing after the first look', async () => {
  planner.wake();
  await planner.settled();
  looks = 0;
  await endRun();
  fixture.clock.advance(3_600_000);
  expect(looks).toBe(0);
});

test('what was committed before the first look, or between a change and the wake, is not missed', async () => {
  const { id } = await fixture.store.webhooks.create(aWebhook());
  await endRun();
  expect(await fixture.store.deliveries.listPending(id, 9)).toHaveLength(1);
  const stale = await fixture.store.webhooks.create(aWebhook({ events: ['session.stopped'] }));
  const run = await fixture.accept();
  await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  planner.wake();
  await planner.settled();
  expect(await fixture.store.deliveries.listPending(stale.id, 9)).toHaveLength(1);
});

test('an event that is committed with the look that learns of its webhook is not missed', async () => {
  planner.wake();
  await planner.settled();
  const { id } = await fixture.store.webhooks.create(aWebhook());
  const { promise, resolve } = Promise.withResolvers<void>();
  hold = promise;
  planner.wake();
  const run = await fixture.accept();
  await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  resolve();
  await waitFor(async () => (await fixture.store.deliveries.listPending(id, 9)).length === 1);
});

test('an event whose notice was missed is planned a minute later', async () => {
  const { id } = await create();
  const notice = vi.spyOn(planner, 'notice').mockImplementation(sleep);
  await endRun();
  notice.mockRestore();
  expect(await fixture.store.deliveries.listPending(id, 9)).toEqual([]);
  fixture.clock.advance(60_000);
  await planner.settled();
  expect(await fixture.store.deliveries.listPending(id, 9)).toHaveLength(1);
});

test('when the store refuses, it is tried again', async () => {
  const { id } = await create();
  refuse = () => {
    throw new Error('disk full');
  };
  await endRun();
  expect(await fixture.store.deliveries.listPending(id, 9)).toEqual([]);
  await expect(planner.catchUp()).rejects.toThrow('disk full');
  refuse = undefined;
  await waitFor(async () => {
    fixture.clock.advance(1_000);
    return (await fixture.store.deliveries.listPending(id, 9)).length === 1;
  });
});

test('a planner that stops ends between two commits, and the next one continues', async () => {
  const { id } = await create();
  refuse = () => void planner.stop();
  await endRun();
  await planner.stop();
  const before = looks;
  await endRun();
  expect(looks).toBe(before);
  refuse = undefined;
  await planner.catchUp();
  expect(await fixture.store.deliveries.listPending(id, 9)).toHaveLength(2);
});

async function sweeperOf(beforeErasing: () => Promise<void>) {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'workspaces'));
  const blobs = await openBlobsInFiles(join(directory, 'blobs'));
  const workspaces = makeWorkspaces({ directory: join(directory, 'workspaces'), blobs, owner: null });
  const { store, clock } = fixture;
  const sweeper = makeSweeper({
    isShared: false,
    store,
    blobs,
    workspaces,
    snapshotThread: { forget: async () => undefined },
    beforeErasing,
    clock,
    log,
  });
  onTestFinished(() => sweeper.stop());
  return sweeper;
}

const SECRET = 'The wreck lies off Ushant';
const titleOf = (body: string) => (JSON.parse(body) as { session: { title: string } }).session.title;
const RESULT = { at: 1, statusCode: 200, durationMs: 1, error: null, responseExcerpt: `You said: ${SECRET}` };

/** A session that ends, whose events nobody has planned, and that is deleted. */
async function deletedUnplanned() {
  const webhook = await fixture.store.webhooks.create(aWebhook());
  const notice = vi.spyOn(planner, 'notice').mockImplementation(sleep);
  const run = await endRun({ title: SECRET });
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  notice.mockRestore();
  return { webhook, run };
}

test('events of a deleted session are planned before its texts go, sent as they were, and erased then', async () => {
  const { webhook } = await deletedUnplanned();
  const sweeper = await sweeperOf(planner.catchUp);
  sweeper.wake();
  await waitFor(async () => (await fixture.store.sessions.listCleanups(0, 9)).length === 0);
  const [delivery] = await fixture.store.deliveries.listPending(webhook.id, 9);
  expect(titleOf(delivery!.body)).toBe(SECRET);
  expect(fixture.rows('SELECT title FROM sessions')).toEqual([{ title: '' }]);
  await fixture.store.deliveries.recordAttempt(delivery!.id, {
    result: { ...RESULT, error: 'no' },
    epoch: 1,
    retryAt: 5,
  });
  const [again] = await fixture.store.deliveries.listPending(webhook.id, 9);
  expect(again?.body).toBe(delivery!.body);
  await fixture.store.deliveries.recordAttempt(delivery!.id, { result: RESULT, epoch: 1, retryAt: null });
  const record = await fixture.store.deliveries.find(delivery!.id);
  expect(record).toMatchObject({
    state: 'delivered',
    body: '',
    attempts: [{ responseExcerpt: null }, { error: null }],
  });
  expect(JSON.stringify(record)).not.toContain(SECRET);
  expect(await fixture.store.deliveries.redeliver(delivery!.id)).toBe(false);
});

test('what was sent before its session was deleted is erased with it', async () => {
  const webhook = await create();
  const run = await endRun({ title: SECRET });
  const [delivery] = await fixture.store.deliveries.listPending(webhook.id, 9);
  await fixture.store.deliveries.recordAttempt(delivery!.id, { result: RESULT, epoch: 1, retryAt: null });
  expect(await fixture.store.deliveries.find(delivery!.id)).toMatchObject({ attempts: [RESULT] });
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  const sweeper = await sweeperOf(planner.catchUp);
  sweeper.wake();
  await waitFor(async () => (await fixture.store.sessions.listCleanups(0, 9)).length === 0);
  expect(JSON.stringify(await fixture.store.deliveries.find(delivery!.id))).not.toContain(SECRET);
});

test('a delivery of a deleted session that is canceled loses its body as well', async () => {
  const { webhook } = await deletedUnplanned();
  await planner.catchUp();
  await fixture.store.webhooks.change(webhook.id, { enabled: false });
  const bodies = fixture.rows('SELECT state, body FROM webhook_deliveries');
  expect(bodies).toEqual([{ state: 'canceled', body: '' }]);
});

test('while the planner fails, the texts of deleted sessions stay', async () => {
  await deletedUnplanned();
  let refused = 0;
  const sweeper = await sweeperOf(async () => {
    refused += 1;
    throw new Error('disk full');
  });
  sweeper.wake();
  await waitFor(() => refused > 0);
  await sweeper.stop();
  expect(fixture.rows('SELECT title FROM sessions')).toEqual([{ title: SECRET }]);
  expect(await fixture.store.sessions.listCleanups(0, 9)).toHaveLength(1);
});
