import { expect, test } from 'vitest';
import { storeFixture } from '../../support/store/store-fixture.ts';

test('sessions are listed by owner and key, the newest first, and found with the names of both', async () => {
  const fixture = await storeFixture();
  const other = await fixture.makeKey();
  const first = await fixture.accept();
  const second = await fixture.accept({ key: other });
  const sessions = async (whose: Parameters<typeof fixture.store.sessions.list>[0]) => {
    const { items } = await fixture.store.sessions.list(whose);
    return items.map(({ id }) => id);
  };
  const page = { limit: 10, offset: 0 };
  expect(await sessions({ userSeq: null, keySeq: null, ...page })).toEqual([second.sessionId, first.sessionId]);
  expect(await sessions({ userSeq: fixture.user.seq, keySeq: other.seq, ...page })).toEqual([second.sessionId]);
  expect(await sessions({ userSeq: fixture.user.seq + 1, keySeq: null, ...page })).toEqual([]);
  expect(await fixture.store.sessions.find(first.sessionId)).toMatchObject({ username: 'mara', keyId: fixture.key.id });
});
