// Times of pages in the zone of the setting.
import { expect, test } from 'vitest';
import { timeElement, zoneOf } from '../../../src/http/share/zone.ts';

const AT = Date.parse('2026-07-01T22:05:59.999Z');

test.each([
  ['Asia/Shanghai', '2026-07-02 06:05 Beijing time'],
  ['UTC', '2026-07-01 22:05 UTC'],
  ['Europe/Zurich', '2026-07-02 00:05 Europe/Zurich'],
  ['America/New_York', '2026-07-01 18:05 America/New York'],
  ['Asia/Kathmandu', '2026-07-02 03:50 Asia/Kathmandu'],
])('in %s, it is %s', (timeZone, words) => {
  const html = timeElement(AT, zoneOf(timeZone)).toString();
  expect(html).toBe(`<time class="moment" datetime="2026-07-01T22:05:59.999Z">${words}</time>`);
});

test('a page that names its zone once leaves it out elsewhere', () => {
  expect(timeElement(AT, zoneOf('UTC'), false).toString()).toContain('>2026-07-01 22:05<');
});
