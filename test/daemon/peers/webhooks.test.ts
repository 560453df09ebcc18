// Webhooks of several nodes: one of them plans and sends, whichever node makes the work, and whatever becomes of its word.
import { expect, onTestFinished, test } from 'vitest';
import { openWebhooks } from '../../../src/daemon/opening/open-webhooks.ts';
import { makeLooks } from '../../../src/daemon/services/looks.ts';
import type { EgressRule } from '../../../src/domain/egress.ts';
import type { Wakers } from '../../../src/events/wakes.ts';
import { makeLog } from '../../../src/log/log.ts';
import { ASLEEP } from '../../support/events/asleep.ts';
import { startHookReceiver } from '../../support/http/hook-receiver.ts';
import { openPeers, type Peer } from '../../support/postgres/peers.ts';
import { aWebhook } from '../../support/store/webhooks.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const log = makeLog({ level: 'fatal' });
const LOOPBACK: EgressRule = { cidr: '127.0.0.1/32', host: null, ports: null, for: ['webhook'] };

async function twoNodes() {
  const { fixture, peers } = await openPeers();
  const receiver = await startHookReceiver();
  onTestFinished(receiver.off);
  const settings = () => ({ egress: { allow: [LOOPBACK] }, webhooks: { retentionDays: 30 } });
  const clock = fakeClock(fixture.clock.now());
  const [north, south] = peers.map((peer) => {
    let attempts = 0;
    const webhooks = openWebhooks({
      attempted: () => (attempts += 1),
      live: { settings } as never,
      store: peer.store,
      secrets: { open: () => '' },
      clock,
      log,
      happened: peer.wakes.happened,
    });
    onTestFinished(webhooks.stop);
    return { ...peer, webhooks, attempts: () => attempts };
  });
  const url = `${receiver.url}/hook`;
  const endRun = async ({ store }: Peer) => {
    const run = await fixture.accept();
    await store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  };
  return { north: north!, south: south!, url, clock, receiver, endRun };
}

const wakersOf = ({ planner, send }: ReturnType<typeof openWebhooks>): Wakers => ({
  ...ASLEEP,
  planner: (_, occasion) => planner.notice(occasion),
  sender: send,
});

test('a webhook that another node made is planned and sent by the one that leads', { tags: ['L7'] }, async () => {
  const { north, south, url, receiver, endRun } = await twoNodes();
  north.wakes.follow(north.bus, wakersOf(north.webhooks));
  north.webhooks.start();
  await north.webhooks.planner.settled();
  await south.store.webhooks.create(aWebhook({ url }));
  south.wakes.happened('webhook changed');
  await endRun(south);
  await waitFor(() => receiver.received.length === 1);
});

test('where its word was lost, the one that leads looks by itself', { tags: ['L7'] }, async () => {
  const { north, south, url, clock, receiver, endRun } = await twoNodes();
  const looks = makeLooks({ wakers: wakersOf(north.webhooks), clock, log });
  onTestFinished(looks.stop);
  north.webhooks.start();
  looks.wake();
  await north.webhooks.planner.settled();
  await south.store.webhooks.create(aWebhook({ url }));
  await endRun(south);
  clock.advance(5_000);
  await waitFor(() => receiver.received.length === 1);
});

test('what a node plans that does not lead is sent once, by the one that does', { tags: ['L7'] }, async () => {
  const { north, south, url, receiver, endRun } = await twoNodes();
  north.wakes.follow(north.bus, { ...ASLEEP, sender: north.webhooks.send });
  north.webhooks.start();
  await north.webhooks.planner.settled();
  await south.store.webhooks.create(aWebhook({ url }));
  await endRun(south);
  // A change plans what came before it.
  await south.store.webhooks.create(aWebhook({ url: `${url}/other` }));
  await waitFor(() => north.attempts() === 1);
  expect([receiver.received.length, south.attempts()]).toEqual([1, 0]);
});
