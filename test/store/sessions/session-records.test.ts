import { expect, test } from 'vitest';
import { storeHouse } from '../../support/store/store-house.ts';

test('sessions are listed by owner and key, the newest first, and found with the names of both', async () => {
  const house = await storeHouse();
  const other = await house.makeKey();
  const first = await house.accept();
  const second = await house.accept({ key: other });
  const sessions = async (userSeq: number | null, keySeq: number | null) => {
    const { items } = await house.store.sessions.list({ userSeq, keySeq, limit: 10, offset: 0 });
    return items.map(({ id }) => id);
  };
  expect(await sessions(null, null)).toEqual([second.sessionId, first.sessionId]);
  expect(await sessions(house.user.seq, other.seq)).toEqual([second.sessionId]);
  expect(await sessions(house.user.seq + 1, null)).toEqual([]);
  expect(await house.store.sessions.find(first.sessionId)).toMatchObject({ username: 'mara', keyId: house.key.id });
});
