// What is known of the last look at a workspace, and the part that a difference covers.
import { expect, test } from 'vitest';
import { makeRecordedLooks, partOf } from '../../../src/execution/artifacts/recorded-looks.ts';
import { NOTHING_SKIPPED, type Snapshot } from '../../../src/files/snapshots/snapshot.ts';

const SIZE = { fileCount: 9, totalBytes: 90 };
const LOOK = { token: 't', except: [], identity: 'directory', size: SIZE };

test('a look is known in its directory, until one that has no token', () => {
  const looks = makeRecordedLooks();
  expect(looks.find(1, 'directory')).toBeNull();
  looks.put(1, LOOK);
  expect(looks.find(1, 'directory')).toEqual(LOOK);
  expect(looks.find(1, 'another')).toBeNull();
  expect(looks.find(1, null)).toBeNull();
  expect(looks.find(2, 'directory')).toBeNull();
  looks.put(1, { ...LOOK, token: null });
  expect(looks.find(1, 'directory')).toBeNull();
});

test('paths recorded without it are exceptions, up to a number', () => {
  const looks = makeRecordedLooks();
  looks.amend(1, ['/a'], SIZE);
  expect(looks.find(1, 'directory')).toBeNull();
  looks.put(1, LOOK);
  const size = { fileCount: 10, totalBytes: 95 };
  looks.amend(1, ['/a', '/b'], SIZE);
  looks.amend(1, ['/b', '/c'], size);
  expect(looks.find(1, 'directory')).toEqual({ ...LOOK, except: ['/a', '/b', '/c'], size });
  looks.amend(
    1,
    Array.from({ length: 1_000 }, (_, at) => `/${at}`),
    size,
  );
  expect(looks.find(1, 'directory')).toBeNull();
});

test('the oldest looks are forgotten', () => {
  const looks = makeRecordedLooks();
  for (let session = 0; session <= 10_000; session += 1) looks.put(session, LOOK);
  expect(looks.find(0, 'directory')).toBeNull();
  expect(looks.find(1, 'directory')).not.toBeNull();
});

test('a difference covers what was reported, what is gone, and the exceptions', () => {
  const files = [{ path: '/new', size: 1, sha256: 'a' }];
  const rest = { files, skipped: NOTHING_SKIPPED, isWhole: true, names: null, token: 'u' };
  const snapshot: Snapshot = { ...rest, gone: ['/gone'] };
  const since = { ...LOOK, except: ['/new', '/other'] };
  expect(partOf(snapshot, since)).toEqual({ paths: ['/new', '/gone', '/other'], ...SIZE });
  expect(partOf({ ...snapshot, gone: null }, since)).toBeUndefined();
});
