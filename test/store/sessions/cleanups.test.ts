// Deleting softly, and what is noted for the clean-up.
import { expect, test } from 'vitest';
import { aTurn, storeHouse } from '../../support/store/store-house.ts';

const file = (id: string, sha256: string) => ({
  id,
  name: `${id}.txt`,
  path: `attachments/${id}/${id}.txt`,
  mimeType: 'text/plain',
  size: 1,
  sha256,
});

test('a deleted session is gone for everyone, its runs are canceled, and one clean-up is scheduled', async () => {
  const house = await storeHouse();
  const { sessionSeq, sessionId, id } = await house.accept();
  expect(await house.store.sessions.deleteSession(sessionSeq)).toMatchObject({ kind: 'ended', canceled: 1 });
  expect(house.committed.slice(-2).map(({ type }) => type)).toEqual(['run.stopped', 'session.deleted']);
  expect(await house.store.runs.find(id)).toBeUndefined();
  expect(await house.store.sessions.find(sessionId)).toBeUndefined();
  expect(await house.store.runs.accept({ ...aTurn(house.user, house.key), sessionId })).toEqual({
    kind: 'session_gone',
  });
  expect(await house.store.sessions.deleteSession(sessionSeq)).toEqual({ kind: 'gone' });
  expect(await house.store.runs.stopSession(sessionSeq, 'user_requested_stop')).toEqual({ kind: 'gone' });
  expect(await house.store.sessions.listCleanups(0, 10)).toEqual([{ sessionSeq, sessionId }]);
  await house.store.erasures.finishCleanup(sessionSeq);
  expect(await house.store.sessions.listCleanups(0, 10)).toEqual([]);
});

test('files are not cleaned up while an executor may still be at work', async () => {
  const house = await storeHouse();
  const { sessionSeq } = await house.accept();
  await house.claim();
  await house.store.sessions.deleteSession(sessionSeq);
  expect(await house.store.sessions.listCleanups(0, 10)).toEqual([]);
  await house.store.runs.confirmStop(sessionSeq);
  expect(await house.store.sessions.listCleanups(0, 10)).toHaveLength(1);
});

test('a blob is in use until the clean-up of the last session that refers to it has come to its rows', async () => {
  const house = await storeHouse();
  const [one, other] = [
    await house.accept({ attachments: [file('a', 'shared'), file('b', 'own')] }),
    await house.accept({ attachments: [file('c', 'shared')] }),
  ];
  await house.store.sessions.deleteSession(one.sessionSeq);
  expect((await house.store.erasures.finishCleanup(one.sessionSeq))?.toSorted()).toEqual(['own', 'shared']);
  expect([await house.store.sessions.isBlobInUse('shared'), await house.store.sessions.isBlobInUse('own')]).toEqual([
    true,
    false,
  ]);
  expect(await house.store.sessions.findAttachment(house.user.seq, 'attachments/a/a.txt')).toBeUndefined();
  await house.store.sessions.deleteSession(other.sessionSeq);
  expect(await house.store.sessions.isBlobInUse('shared')).toBe(true);
  expect(await house.store.erasures.finishCleanup(other.sessionSeq)).toEqual(['shared']);
  expect(await house.store.sessions.isBlobInUse('shared')).toBe(false);
});

test('the text of a document goes with the last session that had it', async () => {
  const house = await storeHouse();
  const { documents, sessions } = house.store;
  for (const sha256 of ['shared', 'own']) await documents.keep(sha256, { text: 'High water.' });
  const [one, other] = [
    await house.accept({ attachments: [file('a', 'shared'), file('b', 'own')] }),
    await house.accept({ attachments: [file('c', 'shared')] }),
  ];
  await sessions.deleteSession(one.sessionSeq);
  await house.store.erasures.finishCleanup(one.sessionSeq);
  expect([await documents.find('shared'), await documents.find('own')]).toEqual([{ text: 'High water.' }, undefined]);
  await sessions.deleteSession(other.sessionSeq);
  await house.store.erasures.finishCleanup(other.sessionSeq);
  expect(await documents.find('shared')).toBeUndefined();
});
