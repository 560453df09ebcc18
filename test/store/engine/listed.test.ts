// Lists of a condition: few lengths, and no value that wasn't given.
import { expect, test } from 'vitest';
import { listed, MOST_LISTED } from '../../../src/store/engine/listed.ts';

test('lists of all lengths have few texts, and the given values alone', () => {
  const texts = new Set<string>();
  for (let length = 1; length <= MOST_LISTED; length += 1) {
    const given = Array.from({ length }, (_, at) => at + 10);
    const { marks, values } = listed(given);
    texts.add(marks);
    expect(marks.split(', ')).toHaveLength(values.length);
    expect([...new Set(values)]).toEqual(given);
  }
  expect(texts.size).toBe(4);
});
