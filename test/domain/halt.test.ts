// What listens to a halt, and the signal that libraries get instead.
import { expect, test } from 'vitest';
import { HALTED, makeHalt } from '../../src/domain/halt.ts';

test('a halt calls each listener once, those that come later at once, and none that has left', () => {
  const halt = makeHalt();
  const heard: string[] = [];
  const gone = () => heard.push('gone');
  halt.listen(() => heard.push('early'));
  halt.listen(gone);
  halt.leave(gone);
  halt.halt();
  halt.halt();
  halt.listen(() => heard.push('late'));
  expect(heard).toEqual(['early', 'late']);
  expect(halt.isHalted).toBe(true);
});

test('its signal aborts with it, whenever it is asked for', () => {
  const halt = makeHalt();
  const early = halt.signal;
  expect(early.aborted).toBe(false);
  halt.halt();
  expect(early.reason).toBe(HALTED);
  expect(halt.signal).toBe(early);
  const halted = makeHalt();
  halted.halt();
  expect(halted.signal.reason).toBe(HALTED);
});
