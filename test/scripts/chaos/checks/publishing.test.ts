// The storm's check of pages and versions: it reports what no request can have made, and accepts what a late one may have.
import { expect, test } from 'vitest';
import { checkKnown } from '../../../../scripts/chaos/checks/publishing.ts';

type Known = Parameters<typeof checkKnown>[0];
type Row = Parameters<typeof checkKnown>[1][number];

const row = (key: string, no: number, more: Partial<Row> = {}): Row => ({
  key,
  name: `Page ${key}`,
  no,
  reason: no === 1 ? null : `release ${no}`,
  share_code: `${key}${no}`,
  withdrawn_at: null,
  ...more,
});

/** A page `a` with two versions that were confirmed, and a task's page `t`. */
function known(late: Readonly<Record<string, number>> = {}, isDeleted = false): Known {
  const versions = new Map([1, 2].map((no) => [no, `a${no}`]));
  const page = { key: 'a', versions, withdrawn: new Set<number>(), isDeleted };
  return {
    publishers: { pages: [page], late: new Map(Object.entries(late)) },
    taskPages: [{ key: 't', taskId: 'task', entryPath: '/site/index.html' }],
  };
}

const CONFIRMED = [row('a', 1), row('a', 2), row('t', 1)];

test('what was confirmed is there', () => {
  expect(checkKnown(known(), CONFIRMED)).toEqual([]);
  expect(checkKnown(known(), [row('a', 1)])).toEqual(['page a has 1 a1, and 1 a1,2 a2 were confirmed']);
  expect(checkKnown(known(), [row('a', 1), row('a', 2, { share_code: 'other' })])).toHaveLength(1);
  expect(checkKnown(known({}, true), CONFIRMED)).toEqual(['page a was deleted, and is there']);
});

const UNMADE = 'page b is there, and nobody has made it';

test('a page that nobody knows may be that of a request whose reply was lost, one for each', () => {
  const page = row('b', 1, { name: 'Page a' });
  expect(checkKnown(known(), [...CONFIRMED, page])).toEqual([UNMADE]);
  expect(checkKnown(known({ 'Page a': 1 }), [...CONFIRMED, page])).toEqual([]);
  expect(checkKnown(known({ 'Page c': 1 }), [...CONFIRMED, page])).toEqual([UNMADE]);
  const another = row('c', 1, { name: 'Page a' });
  expect(checkKnown(known({ 'Page a': 1 }), [...CONFIRMED, page, another])).toEqual([
    'page c is there, and nobody has made it',
  ]);
});

test('nobody who knows it can have released a page that came late', () => {
  const versions = [1, 2].map((no) => row('b', no, { name: 'Page a' }));
  expect(checkKnown(known({ 'Page a': 1 }), [...CONFIRMED, ...versions])).toEqual([UNMADE]);
});

test('a version that nobody knows may be that of a request whose reply was lost', () => {
  const version = row('a', 3, { reason: 'release 2' });
  const surplus = ['page a has 1 a1,2 a2,3 a3, and 1 a1,2 a2 were confirmed'];
  expect(checkKnown(known(), [...CONFIRMED, version])).toEqual(surplus);
  expect(checkKnown(known({ 'release 2': 1 }), [...CONFIRMED, version])).toEqual([]);
  expect(checkKnown(known({ 'release 1': 1 }), [...CONFIRMED, version])).toEqual(surplus);
  // It accounts for none that was confirmed, and is gone.
  expect(checkKnown(known({ 'release 2': 1 }), [row('a', 1), row('t', 1)])).toHaveLength(1);
});
