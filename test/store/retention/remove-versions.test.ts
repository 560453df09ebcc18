// Old versions of pages are withdrawn, so that their files are given back.
import { expect, test } from 'vitest';
import { publishFixture } from '../../support/store/publishing.ts';

const always = { room: () => 9 };

test('the newest versions of a page stay, and those whose share has an end', async () => {
  const fixture = await publishFixture();
  const { retention, shares } = fixture.store;
  const run = await fixture.workspace();
  const first = await fixture.publish(run);
  const codes = [first.shareCode];
  for (let no = 2; no <= 5; no += 1) codes.push((await fixture.release(first.id, run)).shareCode);
  await fixture.publish(run);
  await shares.setEnd(codes[1]!, fixture.clock.now() + 1_000);
  expect(await retention.countVersions(2)).toMatchObject({ rows: 2, bytes: 6 });
  expect(await retention.versions(2, always)).toEqual({ rows: 2, more: false });
  const withdrawn = await Promise.all(codes.map(async (code) => (await fixture.share(code))?.withdrawnAt !== null));
  expect(withdrawn).toEqual([true, false, true, false, false]);
  expect(await fixture.page(first.key)).toMatchObject({ versionCount: 3 });
  expect(await retention.versions(2, always)).toEqual({ rows: 0, more: false });
});
