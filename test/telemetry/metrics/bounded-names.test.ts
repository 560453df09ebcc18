import { expect, test } from 'vitest';
import { makeBoundedNames } from '../../../src/telemetry/metrics/bounded-names.ts';

test('the first names keep their own series, and all further ones are other', () => {
  const bounded = makeBoundedNames(2);
  expect(['red', 'blue', 'green', 'red', 'white'].map(bounded)).toEqual(['red', 'blue', 'other', 'red', 'other']);
});
