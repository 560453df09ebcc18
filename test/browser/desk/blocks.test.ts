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
