// The versions of a page that has very many of them: what is listed, and how much of it is read.
import { expect, test } from 'vitest';
import { publishFixture } from '../../support/store/publishing.ts';
import { literal } from '../../support/store/open-store.ts';

const MINUTE = 60_000;
/** More than a list reaches. */
const VERSIONS = 10_050;

test('lists reach the newest 10,000 versions, and older ones by their days or numbers', async () => {
  const fixture = await publishFixture();
  const { id, shareCode } = await fixture.publish(await fixture.workspace());
  const first = (await fixture.share(shareCode))!.publishedAt;
  const columns = 'user_seq, session_seq, share_type, entry_path, trigger_type, file_count, total_size, is_open';
  fixture.change(`WITH RECURSIVE n (no) AS (SELECT 2 UNION ALL SELECT no + 1 FROM n WHERE no < ${VERSIONS})
    INSERT INTO publish_versions (page_id, no, share_code, published_at, ${columns})
    SELECT page_id, n.no, substr(CAST(10000000 + n.no AS TEXT) || '00000000000000', 1, 22), published_at + (n.no - 1) * ${MINUTE}, ${columns}
    FROM publish_versions, n WHERE page_id = ${literal(id)}`);
  fixture.change(`INSERT INTO publish_files (version_seq, path, size, sha256)
    SELECT v.seq, f.path, f.size, f.sha256 FROM publish_versions v CROSS JOIN publish_files f WHERE v.no > 1`);
  const list = async (over: object) => {
    const filter = { pageId: id, no: null, from: null, to: null, limit: 3, offset: 0, ...over };
    const { items, total } = await fixture.store.manifests.listReadable(filter, fixture.clock.now());
    return { total, numbers: items.map(({ no }) => no), latest: items.filter(({ isLatest }) => isLatest).length };
  };
  const numbers = (...of: number[]) => ({ total: 10_000, numbers: of, latest: of[0] === VERSIONS ? 1 : 0 });
  expect(await list({})).toEqual(numbers(VERSIONS, VERSIONS - 1, VERSIONS - 2));
  expect(await list({ offset: 9_998 })).toEqual(numbers(52, 51));
  expect(await list({ offset: 10_000 })).toEqual(numbers());
  expect(await list({ from: 0 })).toEqual(numbers(VERSIONS, VERSIONS - 1, VERSIONS - 2));
  expect(await list({ from: 0, offset: 10_000 })).toEqual(numbers());
  expect(await list({ to: first + 2 * MINUTE })).toEqual({ total: 2, numbers: [2, 1], latest: 0 });
  expect(await list({ no: 5 })).toEqual({ total: 1, numbers: [5], latest: 0 });
});

test('a deleted page of many small versions is removed many versions a commit', async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace();
  const { id } = await fixture.publish(run, { entryPath: '/notes.txt' });
  for (let version = 2; version <= 200; version += 1) await fixture.release(id, run, '/notes.txt');
  await fixture.store.pages.delete(id);
  let commits = 0;
  while (await fixture.store.pageRemovals.clearDeleted()) commits += 1;
  expect(commits).toBeLessThan(5);
  expect(['publish_pages', 'publish_versions', 'publish_files'].map(fixture.count)).toEqual([0, 0, 0]);
});
