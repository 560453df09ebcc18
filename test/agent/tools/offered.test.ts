// What a model is offered of a run's tools.
import { expect, test } from 'vitest';
import { TOOLS } from '../../../src/agent/tools/all-tools.ts';
import { offeredOf } from '../../../src/agent/tools/offered.ts';

test('the same tools are one list, and any difference makes another', () => {
  const offered = offeredOf(TOOLS);
  expect(offered.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
  expect(offered[0]).not.toHaveProperty('execute');
  expect(offeredOf([...TOOLS])).toBe(offered);
  const [first, ...rest] = TOOLS;
  expect(offeredOf(rest)).not.toBe(offered);
  for (const change of [{ name: 'other' }, { description: 'Other.' }, { inputSchema: { ...first!.inputSchema } }]) {
    expect(offeredOf([{ ...first!, ...change }, ...rest])).not.toBe(offered);
  }
});
