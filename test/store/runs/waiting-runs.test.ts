import { expect, test } from 'vitest';
import { storeFixture } from '../../support/store/store-fixture.ts';

test('each waiting run says what it waits behind', async () => {
  const fixture = await storeFixture();
  const other = await fixture.makeKey();
  const first = await fixture.accept();
  await fixture.claim();
  const behind = await fixture.accept({ sessionId: first.sessionId });
  const further = await fixture.accept({ sessionId: first.sessionId });
  const head = await fixture.accept({ key: other });
  const second = await fixture.accept({ key: other });
  fixture.clock.advance(5_000);
  const { items, total } = await fixture.store.runs.listWaiting({ limit: 3, offset: 0 });
  expect(total).toBe(4);
  expect(items).toMatchObject([
    { runId: behind.id, ready: false, behindInSession: first.id },
    { runId: further.id, ready: false, behindInSession: behind.id },
    { runId: head.id, ready: true, behindInSession: null, behindInKey: null, keyId: other.id, username: 'mara' },
  ]);
  expect((await fixture.store.runs.listWaiting({ limit: 3, offset: 3 })).items).toMatchObject([
    { runId: second.id, ready: true, behindInKey: head.id },
  ]);
});
