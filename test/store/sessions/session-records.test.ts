import { expect, test } from 'vitest';
import { storeHouse } from '../../support/store/store-house.ts';

test('sessions are listed by owner and key, the newest first, and found with the names of both', async () => {
  const house = await storeHouse();
  const other = await house.makeKey();
  const first = await house.accept();
  const second = await house.accept({ key: other });
  const sessions = async (whose: Parameters<typeof house.store.sessions.list>[0]) => {
    const { items } = await house.store.sessions.list(whose);
    return items.map(({ id }) => id);
  };
  const page = { limit: 10, offset: 0 };
  expect(await sessions({ userSeq: null, keySeq: null, ...page })).toEqual([second.sessionId, first.sessionId]);
  expect(await sessions({ userSeq: house.user.seq, keySeq: other.seq, ...page })).toEqual([second.sessionId]);
  expect(await sessions({ userSeq: house.user.seq + 1, keySeq: null, ...page })).toEqual([]);
  expect(await house.store.sessions.find(first.sessionId)).toMatchObject({ username: 'mara', keyId: house.key.id });
});
