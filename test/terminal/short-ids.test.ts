// Short ids name one thing each.
import { expect, test } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { shortIds } from '../../src/terminal/short-ids.ts';

test('ids of different moments are shown up to their time', () => {
  const ids = ['01a20341-07f9-766d-96d6-03df9b1a9479', '01a20341-05b0-7f6f-b42d-4256b723aa5c'];
  expect([...shortIds(ids).values()].sort()).toEqual(['01a20341-05b0', '01a20341-07f9']);
});

test('each short id is the start of one id only, also of ids made in the same millisecond', () => {
  const ids = Array.from({ length: 500 }, (_, at) => newId(1_800_000_000_000 + Math.floor(at / 50)));
  for (const [id, short] of shortIds(ids)) {
    expect(ids.filter((other) => other.startsWith(short))).toEqual([id]);
    expect(short.endsWith('-')).toBe(false);
  }
});

test('an id that is listed twice is as short as once', () => {
  const id = '01a20341-07f9-766d-96d6-03df9b1a9479';
  expect(shortIds([id, id]).get(id)).toBe('01a20341-07f9');
});
