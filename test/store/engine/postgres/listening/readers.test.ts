// Readers of one process while another one executes: streams and Office Mode go on, and services wake.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { makeBus } from '../../../../../src/events/bus.ts';
import { makeEventScopes } from '../../../../../src/events/event-scopes.ts';
import { makeOfficeFeed } from '../../../../../src/events/office-feed.ts';
import { makeTails } from '../../../../../src/events/tail.ts';
import { makeWakes, type Wakers } from '../../../../../src/events/wakes.ts';
import { openPostgres } from '../../../../../src/store/engine/postgres/open-database.ts';
import { makeStore } from '../../../../../src/store/open-store.ts';
import { renderBody } from '../../../../../src/webhooks/bodies/render-body.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { addressOf } from '../../../../support/postgres/address-of.ts';
import { databaseFor } from '../../../../support/postgres/shared-cluster.ts';
import { aTurn, BACKGROUND_CLAIM, fenceOf, START, storeFixture } from '../../../../support/store/store-fixture.ts';
import { waitFor } from '../../../../support/time/wait-for.ts';
import { aSharing } from '../../../../support/postgres/sharing.ts';

test('a reader has the events of a run that another process executes, each once', async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const { user, key } = await storeFixture(file);
  const open = () => {
    const database = openPostgres(addressOf(databaseFor(file)), systemClock, { sharing: aSharing(), connections: 4 });
    onTestFinished(() => database.close());
    return makeStore(database, renderBody);
  };
  const [executing, reading] = [open(), open()];
  await Promise.all([executing.answered(), reading.answered()]);

  const bus = makeBus();
  reading.onCommitted(bus.publish);
  const woken: string[] = [];
  const wakers = new Proxy({} as Wakers, {
    get: (_, service) => (_seq: number, occasion: string) => woken.push(`${String(service)}: ${occasion}`),
  });
  makeWakes().follow(bus, wakers);
  const office: string[] = [];
  const scopes = makeEventScopes(reading.events);
  makeOfficeFeed({ bus, scopes, clock: systemClock }).follow(null, {
    send: (bytes) => void office.push(String(bytes)),
    pause: () => undefined,
    isBehind: () => false,
    end: () => undefined,
    failed: (error) => void office.push(String(error)),
  });

  const accepted = await executing.runs.accept(aTurn(user, key));
  if (!('run' in accepted)) throw new Error(accepted.kind);
  const streamed: string[] = [];
  let isOver = false;
  makeTails({ bus, events: reading.events }).follow(accepted.run, 0, {
    events: (events) => void streamed.push(...events.map(({ type }) => type)),
    end: () => {
      isOver = true;
    },
    failed: (error) => void streamed.push(String(error)),
  });
  await waitFor(() => streamed.includes('run.queued'));
  const [claim] = await executing.runs.claim({ ...START, limit: 1, background: BACKGROUND_CLAIM });
  const fence = fenceOf(claim!.run);
  await executing.runs.finalize(fence, { outcome: 'completed', answer: 'The moon pulls.', stopReason: 'end_turn' });
  await executing.runs.settle(fence);
  await waitFor(() => isOver);
  expect(streamed).toEqual(['run.queued', 'run.started', 'run.finalizing', 'message', 'run.done']);
  await waitFor(() => office.join('').includes('run.done'));
  expect(office.join('').match(/^event: .*$/gm)).toEqual(streamed.map((type) => `event: ${type}`));
  expect(woken).toContain('planner: run.done');
});
