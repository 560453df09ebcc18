// Dates and times that stay on one line.
import { expect, test } from 'vitest';
import { markdownOf } from '../../support/rendering/rendered.ts';

const datesIn = (html: string) => [...html.matchAll(/<span class="date">([^<]*)<\/span>/g)].map(([, date]) => date);

test.each([
  '2026-03-01',
  '2026-03-01 20:01',
  '2026-03-01T20:01:59.123Z',
  '2026-03-01 20:01 UTC',
  '2026-03-01 20:01 +08:00',
  '8:30 am',
  '20:01 CET',
  '3 March 2026',
  '3rd Sept. 2026',
  'March 3, 2026',
  'Mar. 3rd',
  '2026年3月1日',
])('%s is kept together', async (date) => {
  expect(datesIn(await markdownOf(`On ${date}, at last; (${date})`))).toEqual([date, date]);
  expect(datesIn(await markdownOf(`| a |\n|---|\n| ${date} |`))).toEqual([date]);
});

test.each(['v2026-03-01', '2026-03-011', '/2026-03-01/a', '1:2:3', '12 Marches', '`2026-03-01`'])(
  '%s is left as it is',
  async (text) => {
    expect(datesIn(await markdownOf(`See ${text}.`))).toEqual([]);
  },
);

test('no more are kept together than would make a page much longer', async () => {
  expect(datesIn(await markdownOf('2026-03-01\n\n'.repeat(6_000)))).toHaveLength(5_000);
  expect(datesIn(await markdownOf('2026-03-01 '.repeat(6_000)))).toHaveLength(5_000);
});
