import { expect, test } from 'vitest';
import { GRACE_MS } from '../../src/store/objects.ts';
import { storeFixture } from '../support/store/store-fixture.ts';

const NOBODY: ReadonlySet<string> = new Set();

test('an object that no row lists is due an hour after it was noted last', async () => {
  const { store, clock } = await storeFixture();
  expect(await store.objects.note(['a', 'b'])).toEqual(['noted', 'noted']);
  clock.advance(GRACE_MS / 2);
  expect(await store.objects.note(['b'])).toEqual(['noted']);
  const nextAt = clock.now() + GRACE_MS;
  clock.advance(GRACE_MS / 2 + 1);
  expect(await store.objects.listDue(clock.now())).toEqual({ keys: ['a'], nextAt });
  // Someone renewed it after that look.
  expect(await store.objects.beginRemovals(['a', 'b'], NOBODY)).toEqual(['a']);
  await store.objects.endRemovals(['a', 'b']);
  clock.advance(GRACE_MS);
  expect(await store.objects.listDue(clock.now())).toEqual({ keys: ['b'], nextAt: null });
});

test('what a row lists is neither noted nor removed', async () => {
  const { store, clock, accept } = await storeFixture();
  const upload = { id: 'u', name: 'a', path: 'attachments/u/a', workspacePath: '/uploads/a', mimeType: 'text/plain' };
  await store.objects.note(['listed']);
  await accept({ attachments: [{ ...upload, size: 1, sha256: 'listed' }] });
  expect(await store.objects.note(['listed', 'other'])).toEqual(['listed', 'noted']);
  clock.advance(GRACE_MS + 1);
  expect(await store.objects.beginRemovals(['listed', 'other'], new Set(['other']))).toEqual([]);
  expect(await store.objects.listDue(clock.now())).toEqual({ keys: [], nextAt: clock.now() + GRACE_MS });
});

test('a note of before is renewed for who is about to list what a row lists still', { tags: ['L7'] }, async () => {
  const { store, clock, accept, change } = await storeFixture();
  await store.objects.note(['listed']);
  const upload = { id: 'u', name: 'a', path: 'attachments/u/a', workspacePath: '/uploads/a', mimeType: 'text/plain' };
  await accept({ attachments: [{ ...upload, size: 1, sha256: 'listed' }] });
  clock.advance(GRACE_MS + 1);
  expect(await store.objects.note(['listed'])).toEqual(['listed']);
  change('DELETE FROM attachments');
  expect(await store.objects.beginRemovals(['listed'], NOBODY)).toEqual([]);
  clock.advance(GRACE_MS + 1);
  expect(await store.objects.beginRemovals(['listed'], NOBODY)).toEqual(['listed']);
});

test('whoever removes has an object alone, but not for ever', async () => {
  const { store, clock } = await storeFixture();
  await store.objects.noteRemoved(['a']);
  clock.advance(GRACE_MS + 1);
  expect(await store.objects.beginRemovals(['a'], NOBODY)).toEqual(['a']);
  expect(await store.objects.note(['a'])).toEqual(['removing']);
  await store.objects.noteRemoved(['a']);
  expect(await store.objects.beginRemovals(['a'], NOBODY)).toEqual([]);
  expect(await store.objects.listDue(clock.now())).toEqual({ keys: [], nextAt: null });
  clock.advance(200_000);
  expect(await store.objects.listDue(clock.now())).toEqual({ keys: ['a'], nextAt: null });
  expect(await store.objects.note(['a'])).toEqual(['noted']);
  await store.objects.endRemovals(['a']);
  expect(await store.objects.listDue(clock.now())).toMatchObject({ nextAt: clock.now() + GRACE_MS });
});

test('the place of files is remembered', async () => {
  const { store } = await storeFixture();
  expect(await store.objects.getLocation()).toBeNull();
  await store.objects.setLocation('s3://one/');
  await store.objects.setLocation('s3://two/');
  expect(await store.objects.getLocation()).toEqual({ name: 's3://two/', isShared: false });
  await store.objects.setLocation(null);
  expect(await store.objects.getLocation()).toBeNull();
});
