import { expect, test } from 'vitest';
import { storeHouse } from '../../support/store/store-house.ts';

test('each waiting run says what it waits behind', async () => {
  const house = await storeHouse();
  const other = await house.makeKey();
  const first = await house.accept();
  await house.claim();
  const behind = await house.accept({ sessionId: first.sessionId });
  const further = await house.accept({ sessionId: first.sessionId });
  const head = await house.accept({ key: other });
  const second = await house.accept({ key: other });
  house.clock.advance(5_000);
  const { items, total } = await house.store.runs.listWaiting({ limit: 3, offset: 0 });
  expect(total).toBe(4);
  expect(items).toMatchObject([
    { runId: behind.id, ready: false, behindInSession: first.id },
    { runId: further.id, ready: false, behindInSession: behind.id },
    { runId: head.id, ready: true, behindInSession: null, behindInKey: null, keyId: other.id, username: 'mara' },
  ]);
  expect((await house.store.runs.listWaiting({ limit: 3, offset: 3 })).items).toMatchObject([
    { runId: second.id, ready: true, behindInKey: head.id },
  ]);
});
