import { expect, test } from 'vitest';
import type { ModelMessage } from '../../../src/agent/models/message.ts';
import { makeContextParts } from '../../../src/agent/loop/context-parts.ts';

const tools = [{ name: 'shell', description: 'x'.repeat(256), inputSchema: {} }];
const messages: ModelMessage[] = [{ role: 'user', parts: [{ type: 'text', text: 'x'.repeat(590) }] }];
const sum = ({ system, history, tools }: Record<'system' | 'history' | 'tools', number>) => system + history + tools;

test('the tokens that a server counted are shared by length, and add up', () => {
  const partsOf = makeContextParts({ instructions: 'x'.repeat(200), tools });
  expect(partsOf(messages, 1_000)).toEqual({ system: 180, tools: 277, history: 543 });
  for (const tokens of [1, 2, 3, 7, 99_999]) expect(sum(partsOf(messages, tokens))).toBe(tokens);
});

test('a run without tools spends nothing on them', () => {
  const partsOf = makeContextParts({ instructions: '', tools: [] });
  expect(partsOf(messages, 500)).toEqual({ system: 0, tools: 0, history: 500 });
});

test('a server that counts nothing is counted for', () => {
  const partsOf = makeContextParts({ instructions: 'x'.repeat(300), tools: [] });
  expect(partsOf(messages, 0)).toEqual({ system: 100, tools: 0, history: 200 });
});
