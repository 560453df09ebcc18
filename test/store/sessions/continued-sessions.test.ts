// The session that a client goes on with, by what it resends.
import { expect, test } from 'vitest';
import { linkAfter, NOTHING_SAID } from '../../../src/domain/sessions/continued/history-chain.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

test('of equal conversations the newest is found whose session is still there', { tags: ['M1-history'] }, async () => {
  const fixture = await storeFixture();
  const { key, store } = fixture;
  const link = linkAfter(NOTHING_SAID, { role: 'user', text: 'Hi' });
  const conversation = { clientName: null, isThrowAway: false, history: link };
  const [oldest, middle, newest] = [
    await fixture.accept({ conversation }),
    await fixture.accept({ conversation }),
    await fixture.accept({ conversation }),
  ];
  const found = async () => (await store.sessions.findContinued(key.seq, null, [link])).resent?.runSeq;
  expect(await found()).toBe(newest.seq);
  await store.sessions.deleteSession(newest.sessionSeq);
  expect(await found()).toBe(middle.seq);
  await store.sessions.deleteSession(middle.sessionSeq);
  expect(await found()).toBe(oldest.seq);
  await store.sessions.deleteSession(oldest.sessionSeq);
  expect(await found()).toBeUndefined();
});
