// How many pages one scheduled task may have.
import { beforeEach, expect, test } from 'vitest';
import { PAGE_LIMITS } from '../../../src/domain/publishing/page.ts';
import { aPage } from '../../support/store/publishing.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await storeFixture();
});

const ofTask = (scheduledTaskId: string) =>
  fixture.store.pages.createPage(aPage(fixture.user.seq, { scheduledTaskId }));
test('a scheduled task has 20 pages at most, without those that were deleted', async () => {
  for (let no = 0; no < PAGE_LIMITS.perTask; no += 1) await ofTask('tides');
  await expect(ofTask('tides')).rejects.toMatchObject({
    reason: 'conflict',
    message: 'The scheduled task already has 20 pages, which is the maximum.',
  });
  await ofTask('winds');
  await fixture.store.pages.delete(1);
  await ofTask('tides');
});
