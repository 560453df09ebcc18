// Pages of the journal are parsed at once, and those with an event of megabytes each in a turn of the loop.
import { expect, test } from 'vitest';
import { LONG_TEXT } from '../../../src/domain/loop/own-turn.ts';
import type { RowOfSession } from '../../../src/store/engine/journal/rows.ts';
import { parsed } from '../../../src/store/journal/whole-rows.ts';

const ROW = { id: 1, sessionSeq: 1, runSeq: 1, streamSeq: 1, type: 'message', createdAt: 1, runId: 'r' } as const;
const SHORT = '{"role":"assistant"}';
const LONG = JSON.stringify({ role: 'assistant', textPreview: 'x'.repeat(LONG_TEXT) });

/** In which turn of the loop, from now on, each of these pages is parsed. */
async function turnsOf(...payloads: readonly string[]): Promise<number[]> {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const pages = payloads.map((payload) => ({ events: [{ ...ROW, payload } satisfies RowOfSession], isCut: false }));
  const found = await Promise.all(pages.map((page) => parsed(page, () => turn)));
  isOver = true;
  return found.flatMap(({ events }) => events);
}

test('a long event has another turn than the one in which it was read, and than other long ones', async () => {
  expect(await turnsOf(SHORT, SHORT)).toEqual([0, 0]);
  const [short, ...long] = await turnsOf(SHORT, LONG, LONG, LONG);
  expect(short).toBe(0);
  expect(Math.min(...long)).toBeGreaterThan(0);
  expect(new Set(long).size).toBe(3);
});
