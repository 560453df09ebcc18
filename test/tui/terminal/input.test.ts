import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { expect, test } from 'vitest';
import { openInput } from '../../../src/tui/terminal/input.ts';

function open() {
  const stdin = new PassThrough();
  const input = openInput(stdin as unknown as ReadStream);
  const turns: string[] = [];
  input.wheel.listen((direction) => turns.push(direction));
  const type = async (...chunks: readonly string[]): Promise<string> => {
    for (const chunk of chunks) {
      stdin.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return String((input.keys.read() as Buffer | null) ?? '');
  };
  return { input, turns, type };
}

test('keys go on, and reports of the mouse do not', async () => {
  const { turns, type } = open();
  expect(await type('j\u001b[<64;10;5M\u001b[A\u001b[<65;10;5M\u001b[<68;1;1Mk')).toBe('j\u001b[Ak');
  expect(turns).toEqual(['up', 'down', 'up']);
  expect(await type('\u001b[<0;10;5M\u001b[<0;10;5m')).toBe('');
  expect(turns).toHaveLength(3);
});

test('a report that is cut between two reads is put together', async () => {
  const { turns, type } = open();
  expect(await type('x\u001b[<6', '5;10;', '5My')).toBe('xy');
  expect(turns).toEqual(['down']);
});

test('Escape alone, and arrows that are cut, go on as they come', async () => {
  const { type } = open();
  expect(await type('\u001b')).toBe('\u001b');
  expect(await type('\u001b[', 'A')).toBe('\u001b[A');
});

test('a reply to a question is not typed text; without a reply, the question ends', async () => {
  const { input, type } = open();
  const reply = input.reply(60_000);
  expect(await type('a\u001b]11;rgb:1c1c/1c1c/', '1c1c\u0007b')).toBe('ab');
  expect(await reply).toBe(']11;rgb:1c1c/1c1c/1c1c');
  expect(await input.reply(1)).toBeUndefined();
});

test('the beginning of a report that never ends is not kept for ever', async () => {
  const { type } = open();
  await type(`\u001b]${'x'.repeat(1000)}`);
  expect(await type('q')).toBe('q');
});
