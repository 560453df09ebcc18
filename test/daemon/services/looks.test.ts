// How soon the services of which an installation needs one look for what they were not told.
import { expect, onTestFinished, test } from 'vitest';
import { makeLooks } from '../../../src/daemon/services/looks.ts';
import type { Wakers, WokenService } from '../../../src/events/wakes.ts';
import { makeLog } from '../../../src/log/log.ts';
import { ASLEEP } from '../../support/events/asleep.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

test('what somebody waits for is looked for each five seconds, and what nobody uses each minute', {
  tags: ['L7'],
}, async () => {
  const woken = new Set<string>();
  const wakers = Object.fromEntries(
    (Object.keys(ASLEEP) as WokenService[]).map((name) => [name, () => woken.add(name)]),
  ) as unknown as Wakers;
  const clock = fakeClock();
  const looks = makeLooks({ wakers, clock, log: makeLog({ level: 'fatal' }) });
  onTestFinished(looks.stop);
  const wokenBy = async (seconds: number) => {
    woken.clear();
    for (let at = 0; at < seconds; at += 5) {
      clock.advance(5_000);
      await looks.settled();
    }
    return [...woken].sort();
  };
  looks.wake();
  await looks.settled();
  const soon = ['planner', 'scheduler', 'sender'];
  expect(await wokenBy(5)).toEqual(soon);
  expect(await wokenBy(60)).toEqual(['pageSweeper', ...soon, 'sweeper', 'upkeep'].sort());
});
