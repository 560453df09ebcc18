import { expect, test } from 'vitest';
import type { NewEvent } from '../../src/domain/sessions/journal-event.ts';
import { makeLastWords } from '../../src/events/last-words.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const delta = (text: string): NewEvent => ({ type: 'content_block_delta', payload: { index: 0, text } });

function open() {
  const clock = fakeClock();
  const sent: string[] = [];
  const looked: (number | null)[] = [];
  const known = new Set<number>();
  let id = 0;
  const words = makeLastWords({
    clock,
    scopes: {
      known: ({ runSeq }) =>
        runSeq !== null && known.has(runSeq) ? { sessionId: `s${runSeq}`, runId: `r${runSeq}` } : undefined,
      lookUp: async (some) => {
        for (const { runSeq } of some) known.add(runSeq!);
        looked.push(...some.map(({ runSeq }) => runSeq));
      },
    },
    send: (bytes) => void sent.push(bytes.toString()),
    failed: (error) => {
      throw error;
    },
  });
  const say = (runSeq: number, ...events: readonly NewEvent[]) =>
    words.take(
      events.map((event) => {
        id += 1;
        return { ...event, id, sessionSeq: runSeq, runSeq, streamSeq: id, createdAt: 0 };
      }),
    );
  /** Lets a second pass, and returns what was sent. */
  const second = async () => {
    sent.length = 0;
    clock.advance(1000);
    await Promise.resolve();
    await Promise.resolve();
    return [...sent.join('').matchAll(/^data: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data ?? '') as { id: number; run_id: string; payload: { text: string } },
    );
  };
  return { words, say, second, sent, looked };
}

const texts = (events: readonly { run_id: string; payload: { text: string } }[]) =>
  events.map(({ run_id: run, payload }) => [run, payload.text]);

test('once a second each run that wrote is told of, in one piece, however often it wrote', async () => {
  const { say, second, sent } = open();
  for (let count = 0; count < 500; count += 1) say(1, delta(`word${count} `));
  say(2, delta('hello'));
  const told = await second();
  expect(sent).toHaveLength(1);
  expect(told.map(({ id }) => id)).toEqual([500, 501]);
  expect(sent[0]).not.toMatch(/^id:/m);
  expect(told[0]?.payload.text).toMatch(/word498 word499$/);
  expect(told[0]?.payload.text.length).toBeLessThanOrEqual(200);
  expect(await second()).toEqual([]);
  say(2, delta(' again'));
  expect(texts(await second())).toEqual([['r2', 'hello again']]);
});

test('what a run does next ends its words, and another block goes on with them', async () => {
  const { say, second } = open();
  say(1, delta('First.'), { type: 'content_block_stop', payload: { index: 0 } });
  say(1, { type: 'content_block_start', payload: { index: 1 } }, delta('Second.'));
  say(2, delta('Gone.'), { type: 'tool_use', payload: { step: 1, toolUseId: 'a', name: 'shell', input: {} } });
  expect(texts(await second())).toEqual([['r1', 'First. Second.']]);
  say(1, { type: 'tool_result', payload: { toolUseId: 'a', name: 'x', ok: true, output: '', durationMs: 1 } });
  say(1, delta('Third.'));
  expect(texts(await second())).toEqual([['r1', 'Third.']]);
});

test('one line of whole characters', async () => {
  const { say, second } = open();
  say(1, delta(`${'🌊'.repeat(300)}\n\n  and\tso`));
  const [told] = await second();
  expect(told?.payload.text).toMatch(/🌊 and so$/);
  expect(told?.payload.text.isWellFormed()).toBe(true);
  say(1, delta('x'.repeat(1_000_000)));
  expect((await second())[0]?.payload.text).toBe('x'.repeat(200));
});

test('of more runs than are told of at once, each gets its turn', async () => {
  const { say, second } = open();
  const everybody = Array.from({ length: 250 }, (_, at) => at + 1);
  for (const run of everybody) say(run, delta(`I am ${run}.`));
  const seconds = [await second(), await second(), await second(), await second()];
  expect(seconds.map((told) => told.length)).toEqual([100, 100, 50, 0]);
  expect(new Set(seconds.flat().map(({ run_id: id }) => id)).size).toBe(250);
});

test('when nobody watches any more, nothing is kept or sent', async () => {
  const { words, say, second } = open();
  say(1, delta('Hello.'));
  words.forget();
  expect(await second()).toEqual([]);
  say(1, delta('New.'));
  expect(texts(await second())).toEqual([['r1', 'New.']]);
});
