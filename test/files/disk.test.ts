// Whether the disk has enough free space: when it is looked at, and what is said of it.
import { expect, test } from 'vitest';
import { makeDisk } from '../../src/files/disk.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const MB = 1_048_576;

function watch(freeMb: number, keepFreeMb = 500) {
  const state = { freeMb, keepFreeMb, looks: 0 };
  const clock = fakeClock();
  const disk = makeDisk({
    directory: '/data',
    settings: () => ({ disk: { keepFreeMb: state.keepFreeMb } }) as never,
    clock,
    free: () => {
      state.looks += 1;
      return state.freeMb * MB;
    },
  });
  return { state, clock, disk };
}

test('while there is ample space, a burst costs one look, and the next one is due soon', () => {
  const { state, clock, disk } = watch(1_524);
  for (let i = 0; i < 100; i += 1) expect(disk.shortage()).toBeNull();
  expect(state.looks).toBe(1);
  state.freeMb = 499;
  clock.advance(99);
  expect(disk.shortage()).toBeNull();
  clock.advance(1);
  expect(disk.shortage()).toMatchObject({ words: expect.stringContaining('less than 500 MB') });
});

test('near the limit, each turn looks', () => {
  const { state, disk } = watch(1_523);
  for (let i = 0; i < 10; i += 1) disk.shortage();
  expect(state.looks).toBe(10);
  state.freeMb = 499;
  expect(disk.shortage()).toMatchObject({ words: expect.stringContaining('almost full') });
  state.freeMb = 0;
  expect(disk.shortage()).toMatchObject({ words: expect.stringContaining('no space is left') });
});

test('a limit that was raised holds at once', () => {
  const { state, disk } = watch(5_000);
  expect(disk.shortage()).toBeNull();
  state.keepFreeMb = 6_000;
  expect(disk.shortage()).toMatchObject({ words: expect.stringContaining('less than 6000 MB') });
});
