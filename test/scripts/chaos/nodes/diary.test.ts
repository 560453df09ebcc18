// What excuses files of a run that nobody collected: its node was lost meanwhile.
import { expect, test } from 'vitest';
import { makeNodesDiary } from '../../../../scripts/chaos/nodes/diary.ts';
import type { ChaosNode } from '../../../../scripts/chaos/nodes/node.ts';

const [NORTH, SOUTH] = ['north', 'south'].map((id) => ({ id, name: id, ends: [] }) as unknown as ChaosNode);

test('a node that is lost soon after a run has ended may lose its files; another one, or later, may not', () => {
  const nothing = { stages: [], takenAt: null, lastedMs: 0, problems: [] };
  const strikes = [{ node: NORTH!, kind: 'kill' as const, from: 100_000, to: 127_000, ...nothing }];
  const none = { attempts: [], locks: [], serverDown: [], bucketDown: [], stalls: [] };
  const { mayLoseFiles } = makeNodesDiary({ nodes: [NORTH!, SOUTH!], strikes, ...none });
  const ends = [89_000, 91_000, 99_000, 110_000, 128_000];
  expect(ends.map((at) => mayLoseFiles('north', at))).toEqual([false, true, true, true, false]);
  expect(ends.map((at) => mayLoseFiles('south', at))).toEqual([false, false, false, false, false]);
});
