// The session that a client goes on with, by what it resends.
import { expect, test } from 'vitest';
import { type Link, linkAfter, NOTHING_SAID } from '../../../src/domain/sessions/continued/history-chain.ts';
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
  const resent = [{ links: [link], after: 0 }];
  const found = async () => (await store.sessions.findContinued(key.seq, null, resent)).resent?.runSeq;
  expect(await found()).toBe(newest.seq);
  await store.sessions.deleteSession(newest.sessionSeq);
  expect(await found()).toBe(middle.seq);
  await store.sessions.deleteSession(middle.sessionSeq);
  expect(await found()).toBe(oldest.seq);
  await store.sessions.deleteSession(oldest.sessionSeq);
  expect(await found()).toBeUndefined();
});

test('of what is resent the longest beginning that is known counts, and under the name of a session what was said there', {
  tags: ['M1-history'],
}, async () => {
  const fixture = await storeFixture();
  const { key, store } = fixture;
  const [one, two, all] = ['One', 'Two', 'All'].map((text) => linkAfter(NOTHING_SAID, { role: 'user', text }));
  const keep = (history: Link, clientName: string | null = null) =>
    fixture.accept({ conversation: { clientName, isThrowAway: false, history } });
  await keep(one!);
  const { seq } = await keep(two!);
  const resent = [all, two, one].map((link, at) => ({ links: [link!], after: 2 * at }));
  expect((await store.sessions.findContinued(key.seq, null, resent)).resent).toMatchObject({ runSeq: seq, after: 2 });
  const named = await keep(NOTHING_SAID, 'chat');
  const found = await store.sessions.findContinued(key.seq, 'chat', resent);
  expect(found).toMatchObject({ named: { sessionId: named.sessionId }, resent: { runSeq: seq } });
  const nameless = resent.map((one) => ({ ...one, links: [all!, ...one.links] }));
  expect((await store.sessions.findContinued(key.seq, 'chat', nameless)).resent).toBeNull();
});
