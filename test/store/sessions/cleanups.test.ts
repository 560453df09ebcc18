// Deleting softly, and what is noted for the clean-up.
import { expect, test } from 'vitest';
import { aTurn, storeFixture } from '../../support/store/store-fixture.ts';

const file = (id: string, sha256: string) => ({
  id,
  name: `${id}.txt`,
  path: `attachments/${id}/${id}.txt`,
  mimeType: 'text/plain',
  size: 1,
  sha256,
});

test('a deleted session is gone for everyone, its runs are canceled, and one clean-up is scheduled', async () => {
  const fixture = await storeFixture();
  const { sessionSeq, sessionId, id } = await fixture.accept();
  expect(await fixture.store.sessions.deleteSession(sessionSeq)).toMatchObject({ kind: 'ended', canceled: 1 });
  expect(fixture.committed.slice(-2).map(({ type }) => type)).toEqual(['run.stopped', 'session.deleted']);
  expect(await fixture.store.runs.find(id)).toBeUndefined();
  expect(await fixture.store.sessions.find(sessionId)).toBeUndefined();
  expect(await fixture.store.runs.accept({ ...aTurn(fixture.user, fixture.key), sessionId })).toEqual({
    kind: 'session_gone',
  });
  expect(await fixture.store.sessions.deleteSession(sessionSeq)).toEqual({ kind: 'gone' });
  expect(await fixture.store.runs.stopSession(sessionSeq, 'user_requested_stop')).toEqual({ kind: 'gone' });
  expect(await fixture.store.sessions.listCleanups(0, 10)).toEqual([{ sessionSeq, sessionId }]);
  await fixture.store.erasures.finishCleanup(sessionSeq);
  expect(await fixture.store.sessions.listCleanups(0, 10)).toEqual([]);
});

test('files are not cleaned up while an executor may still be at work', async () => {
  const fixture = await storeFixture();
  const { sessionSeq } = await fixture.accept();
  await fixture.claim();
  await fixture.store.sessions.deleteSession(sessionSeq);
  expect(await fixture.store.sessions.listCleanups(0, 10)).toEqual([]);
  await fixture.store.runs.confirmStop(sessionSeq);
  expect(await fixture.store.sessions.listCleanups(0, 10)).toHaveLength(1);
});

test('a blob is in use until the clean-up of the last session that refers to it has come to its rows', async () => {
  const fixture = await storeFixture();
  const [one, other] = [
    await fixture.accept({ attachments: [file('a', 'shared'), file('b', 'own')] }),
    await fixture.accept({ attachments: [file('c', 'shared')] }),
  ];
  await fixture.store.sessions.deleteSession(one.sessionSeq);
  expect((await fixture.store.erasures.finishCleanup(one.sessionSeq))?.toSorted()).toEqual(['own', 'shared']);
  expect([await fixture.store.sessions.isBlobInUse('shared'), await fixture.store.sessions.isBlobInUse('own')]).toEqual(
    [true, false],
  );
  expect(await fixture.store.sessions.findAttachment(fixture.user.seq, 'attachments/a/a.txt')).toBeUndefined();
  await fixture.store.sessions.deleteSession(other.sessionSeq);
  expect(await fixture.store.sessions.isBlobInUse('shared')).toBe(true);
  expect(await fixture.store.erasures.finishCleanup(other.sessionSeq)).toEqual(['shared']);
  expect(await fixture.store.sessions.isBlobInUse('shared')).toBe(false);
});

test('the text of a document goes with the last session that had it', async () => {
  const fixture = await storeFixture();
  const { documents, sessions } = fixture.store;
  for (const sha256 of ['shared', 'own']) await documents.keep(sha256, { text: 'High water.' });
  const [one, other] = [
    await fixture.accept({ attachments: [file('a', 'shared'), file('b', 'own')] }),
    await fixture.accept({ attachments: [file('c', 'shared')] }),
  ];
  await sessions.deleteSession(one.sessionSeq);
  await fixture.store.erasures.finishCleanup(one.sessionSeq);
  expect([await documents.find('shared'), await documents.find('own')]).toEqual([{ text: 'High water.' }, undefined]);
  await sessions.deleteSession(other.sessionSeq);
  await fixture.store.erasures.finishCleanup(other.sessionSeq);
  expect(await documents.find('shared')).toBeUndefined();
});
