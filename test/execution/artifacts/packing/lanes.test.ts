// Lanes: work of a name once, a few at a time.
import { expect, test } from 'vitest';
import { makeLanes } from '../../../../src/execution/artifacts/packing/lanes.ts';

test('a lane that is free takes what waits, however long the other one takes', async () => {
  const lanes = makeLanes<string>({ atOnce: 2, waiting: 3 });
  const long = Promise.withResolvers<string>();
  void lanes.join('long', () => long.promise);
  const others = ['a', 'b', 'c', 'd'].map((name) => lanes.join(name, async () => name)!);
  expect(lanes.join('e', async () => 'e')).toBeUndefined();
  expect(await Promise.all(others)).toEqual(['a', 'b', 'c', 'd']);
  long.resolve('long');
  await lanes.ended();
});

test('no more are done at once than there are lanes, in the order of asking, also behind a failure', async () => {
  const lanes = makeLanes<void>({ atOnce: 2, waiting: 4 });
  const begun: string[] = [];
  let [active, most] = [0, 0];
  const work = (name: string) => async () => {
    begun.push(name);
    active += 1;
    most = Math.max(most, active);
    await new Promise((done) => void setImmediate(done));
    active -= 1;
    if (name === 'a') throw new Error('a failed');
  };
  const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => lanes.join(name, work(name))!);
  expect(lanes.join('a', work('again'))).toBe(all[0]);
  await expect(all[0]).rejects.toThrow('a failed');
  await lanes.ended();
  expect([begun, most, active]).toEqual([['a', 'b', 'c', 'd', 'e', 'f'], 2, 0]);
  await lanes.join('a', work('g'));
  expect(begun.at(-1)).toBe('g');
});
