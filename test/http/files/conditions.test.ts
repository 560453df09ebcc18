// What a client has already, by its tag and by its time.
import { expect, test } from 'vitest';
import { httpDate, isKnown, isSameContent } from '../../../src/http/files/conditions.ts';

const AT = Date.parse('2026-03-01T12:00:00.900Z');
const file = { etag: '"abc"', lastModified: httpDate(AT) };

/** Whether a client with these headers has the file. */
const SINCE: readonly (readonly [since: string, known: boolean])[] = [
  ['Sun, 01 Mar 2026 12:00:00 GMT', true],
  ['Sun, 01 Mar 2026 11:59:59 GMT', false],
  ['Sun, 01 Mar 2026 12:00:01 GMT', true],
  ['Sunday, 01-Mar-26 12:00:00 GMT', true],
  ['Sunday, 01-Mar-26 11:00:00 GMT', false],
  ['Sun Mar  1 12:00:00 2026', true],
  ['Sun Mar  1 11:59:59 2026', false],
  ['2026-03-01T12:00:00Z', false],
  ['tomorrow', false],
  ['', false],
  ['9'.repeat(400), false],
];

test.each(SINCE)('If-Modified-Since: %s, known: %s', (since, known) => {
  expect(isKnown({ 'if-modified-since': since }, file)).toBe(known);
  expect(isKnown({ 'if-modified-since': since }, { ...file, lastModified: null })).toBe(false);
});

test('a tag decides, whatever the time says', () => {
  const since = { 'if-modified-since': file.lastModified };
  expect(isKnown({ ...since, 'if-none-match': '"other"' }, file)).toBe(false);
  expect(isKnown({ 'if-modified-since': 'Sun, 01 Mar 2020 12:00:00 GMT', 'if-none-match': '"abc"' }, file)).toBe(true);
  expect(isKnown({}, file)).toBe(false);
});

test('a range continues the content of this tag or of this time, exactly', () => {
  const same = (known: string) => isSameContent({ 'if-range': known }, file);
  expect([same('"abc"'), same(file.lastModified)]).toEqual([true, true]);
  expect([same('W/"abc"'), same('"other"'), same('Sun, 01 Mar 2026 12:00:01 GMT')]).toEqual([false, false, false]);
  expect(isSameContent({}, file)).toBe(true);
});
