// Pictures of the browser: each kept once, for the attempt that holds the run, and gone with its session.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Services } from '../../../../src/agent/port/services.ts';
import { makeHalt } from '../../../../src/domain/halt.ts';
import { makeKeepScreenshot } from '../../../../src/execution/artifacts/recording/keep-screenshot.ts';
import { openBlobStore } from '../../../../src/files/blobs/blobs.ts';
import { fenceOf, storeFixture } from '../../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

async function fixture() {
  const { store, accept, claim } = await storeFixture();
  const blobs = await openBlobStore(join(temporaryDirectory(), 'blobs'), store.smallBlobs);
  const service = makeKeepScreenshot({ store, blobs });
  await accept();
  const [run] = await claim();
  const fence = fenceOf(run!);
  const served = { ...fence, runId: run!.id, sessionId: run!.sessionId, userSeq: run!.userSeq, off: makeHalt() };
  const keep = (text: string, over: Partial<Services['keep_screenshot']['input']> = {}) =>
    service(served, { callId: 'call-1', mimeType: 'image/jpeg', bytes: Buffer.from(text), ...over });
  const isThere = (key: string) =>
    blobs.read(key).then(
      () => true,
      () => false,
    );
  return { store, blobs, fence, keep, isThere };
}

test('a picture is stored as a blob, and found by its tool use', async () => {
  const { store, blobs, fence, keep } = await fixture();
  const { sha256 } = await keep('a picture');
  expect(await blobs.read(sha256)).toEqual(Buffer.from('a picture'));
  expect(await store.screenshots.find(fence.sessionSeq, 'call-1')).toEqual({
    toolUseId: 'call-1',
    sha256,
    mimeType: 'image/jpeg',
    size: 9,
  });
  expect(await store.sessions.isBlobInUse(sha256)).toBe(true);
  expect(await store.screenshots.find(fence.sessionSeq, 'call-2')).toBeUndefined();
});

test("a sub-agent's last screenshot is that of its parent's call, and the earlier one leaves nothing behind", async () => {
  const { store, fence, keep, isThere } = await fixture();
  const first = await keep('first', { callId: 'call-1/a' });
  const last = await keep('last', { callId: 'call-1/b' });
  expect(await store.screenshots.find(fence.sessionSeq, 'call-1')).toMatchObject({ sha256: last.sha256 });
  expect([await isThere(first.sha256), await isThere(last.sha256)]).toEqual([false, true]);
});

test('the same picture twice is one blob that stays', async () => {
  const { keep, isThere } = await fixture();
  const { sha256 } = await keep('same');
  await keep('same');
  expect(await isThere(sha256)).toBe(true);
});

test('an attempt that has lost its run stores nothing', async () => {
  const { store, fence, keep, isThere } = await fixture();
  await store.runs.interrupt(fence, 'crash');
  await expect(keep('late')).rejects.toMatchObject({ reason: 'conflict' });
  expect(await isThere(createHash('sha256').update('late').digest('hex'))).toBe(false);
  expect(await store.screenshots.find(fence.sessionSeq, 'call-1')).toBeUndefined();
});

test.each([
  ['a picture of another kind', { mimeType: 'text/html' }, 'bad_request'],
  ['a picture of 9 MB', { bytes: Buffer.alloc(9 * 1024 * 1024) }, 'too_large'],
])('%s is refused', async (_, over, reason) => {
  const { keep } = await fixture();
  await expect(keep('x', over)).rejects.toMatchObject({ reason });
});
