import { expect, test } from 'vitest';
import { liveBlocksOf } from '../../../src/browser/desk/blocks.ts';
import { entriesOf } from '../../../src/tui/feed/entries.ts';
import type { OfficeEvent } from '../../../src/client/office-stream.ts';
import { anEvent } from '../../support/http/office-server.ts';

const write = (...texts: readonly string[]): readonly OfficeEvent[] =>
  texts.map((text, at) => ({
    id: at + 1,
    ...anEvent(1, 'content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  }));

const textsOf = (events: readonly OfficeEvent[]) =>
  liveBlocksOf(entriesOf(events).list).map((block) => (block.kind === 'text' ? block.text : block.entry.kind));

test('paragraphs are blocks, and a list with blank lines is one', () => {
  expect(textsOf(write('One\nline.\n\nTwo.\n\n- a\n\n- b\n\nThree.'))).toEqual([
    'One\nline.',
    'Two.',
    '- a\n\n- b',
    'Three.',
  ]);
});

test('code is one block, blank lines and all', () => {
  expect(textsOf(write('```\na\n\nb\n```\n\nafter'))).toEqual(['```\na\n\nb\n```', 'after']);
});

test('long code goes on in another block, as code', () => {
  const lines = Array.from({ length: 450 }, (_, at) => `line ${at}\n`);
  const blocks = textsOf(write(['```ts\n', ...lines, '```\n\nafter'].join('')));
  expect(blocks).toHaveLength(4);
  expect(blocks.map((text) => text.split('\n')[0])).toEqual(['```ts', '```ts', '```ts', 'after']);
  expect(blocks.join('\n').match(/^line \d+$/gm)).toEqual(lines.map((line) => line.trim()));
  expect(blocks[2]).toMatch(/\n```$/);
});

test('code that is as long as a block ends in it', () => {
  const text = `\`\`\`\n${'a\n'.repeat(199)}\`\`\`\nafter`;
  expect(textsOf(write(text))).toEqual([text.slice(0, -6), 'after']);
});

test('blank lines in code stay, also where it goes on', () => {
  const text = textsOf(write(`\`\`\`\n${'a\n'.repeat(199)}\nb\n\`\`\``));
  expect(text[1]).toBe('```\n\nb\n```');
});

test('no block is so long that it is cut', () => {
  const blocks = textsOf(write(`\`\`\`\n${`${'x'.repeat(1900)}\n`.repeat(150)}\`\`\``));
  expect(Math.max(...blocks.map((text) => text.length))).toBeLessThan(50_000);
  expect(blocks.join('').replaceAll(/[^x]/g, '')).toHaveLength(1900 * 150);
});

test('a line of code with marks and words does not end it', () => {
  expect(textsOf(write('```\n```ts\n\nb\n```'))).toEqual(['```\n```ts\n\nb\n```']);
});

test('a block that grows keeps its key, and those before it are as they were', () => {
  const before = liveBlocksOf(entriesOf(write('One.\n\nTw')).list);
  const after = liveBlocksOf(entriesOf(write('One.\n\nTw', 'o grows.')).list);
  expect(after.map(({ key }) => key)).toEqual(before.map(({ key }) => key));
  expect(after[0]).toEqual(before[0]);
});

test('a call ends the text before it', () => {
  const call: OfficeEvent = {
    id: 9,
    ...anEvent(1, 'tool_use', { tool_use_id: 't', name: 'shell', input: { command: 'ls' } }),
  };
  expect(textsOf([...write('I look.'), call])).toEqual(['I look.', 'tool']);
});

test('a line that is longer than an entry is one line', () => {
  const long = 'word '.repeat(1_000);
  expect(textsOf(write(...long.match(/.{1,7}/g)!, '\nnext'))).toEqual([`${long}\nnext`]);
  expect(textsOf(write(`${long}\nnext`))).toEqual([`${long}\nnext`]);
});
