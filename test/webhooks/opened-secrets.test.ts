// Opened secrets: which are remembered, and that none is taken for another.
import { expect, test } from 'vitest';
import { rememberOpened } from '../../src/webhooks/opened-secrets.ts';

/** A box that counts what it opens. */
function countingBox() {
  const opened: string[] = [];
  const open = (sealed: Uint8Array, context: string) => {
    const text = Buffer.from(sealed).toString();
    if (text === 'of another key') throw new Error('another key');
    opened.push(text);
    return `${text} of ${context}`;
  };
  return { opened, ...rememberOpened({ open }) };
}

test('a secret is opened once, and again when its bytes or its place are different', () => {
  const { opened, open } = countingBox();
  const first = Buffer.from('first');
  expect([open(first, 'webhook:1'), open(Buffer.from(first), 'webhook:1')]).toEqual(
    Array(2).fill('first of webhook:1'),
  );
  expect(opened).toEqual(['first']);
  expect(open(Buffer.from('second'), 'webhook:1')).toBe('second of webhook:1');
  expect(open(first, 'webhook:2')).toBe('first of webhook:2');
  expect(opened).toEqual(['first', 'second', 'first']);
});

test('what the box refuses is refused each time', () => {
  const { open } = countingBox();
  for (const _ of [1, 2]) expect(() => open(Buffer.from('of another key'), 'webhook:1')).toThrow('another key');
});

test('only the 128 that were used last are remembered', () => {
  const { opened, open } = countingBox();
  const use = (number: number) => open(Buffer.from(`secret ${number}`), 'webhook:1');
  for (let number = 0; number < 128; number += 1) use(number);
  use(0);
  use(128);
  use(0);
  expect(opened).toHaveLength(129);
  use(1);
  expect(opened.at(-1)).toBe('secret 1');
  expect(opened).toHaveLength(130);
});
