// A thinner stream that says the same.
import type { LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { mergeDeltas } from '../../../src/agent/models/merge-deltas.ts';

const delta = (text: string): Part => ({ type: 'text-delta', id: 't', delta: text });
const start: Part = { type: 'text-start', id: 't' };
const end: Part = { type: 'text-end', id: 't' };

async function collect(stream: ReadableStream<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

test('deltas that arrive together become one, in order', async () => {
  const source = ReadableStream.from([start, ...['a', 'b', 'c', 'd'].map(delta), end]);
  expect(await collect(mergeDeltas(source))).toEqual([start, delta('abcd'), end]);
});

test('deltas that arrive apart stay apart, and none waits for the next', async () => {
  const { readable, writable } = new TransformStream<Part, Part>();
  const writer = writable.getWriter();
  const reader = mergeDeltas(readable).getReader();
  for (const text of ['a', 'b']) {
    await writer.write(delta(text));
    expect((await reader.read()).value).toEqual(delta(text));
  }
  await reader.cancel();
});

test('deltas with data of the provider, such as signatures, are left alone; tool argument deltas are left out', async () => {
  const signed: Part = {
    type: 'reasoning-delta',
    id: 'r',
    delta: '',
    providerMetadata: { anthropic: { signature: 'sig' } },
  };
  const argument: Part = { type: 'tool-input-delta', id: 'c', delta: '{"a"' };
  const thought: Part = { type: 'reasoning-delta', id: 'r', delta: 'hm' };
  const parts = await collect(mergeDeltas(ReadableStream.from([thought, thought, signed, argument, end])));
  expect(parts).toEqual([{ ...thought, delta: 'hmhm' }, signed, end]);
});

test('a broken source breaks the stream, and leaving the stream cancels the source', async () => {
  const broken = new ReadableStream<Part>({
    start: (controller) => {
      controller.enqueue(delta('a'));
    },
    pull: (controller) => controller.error(new Error('cut')),
  });
  await expect(collect(mergeDeltas(broken))).rejects.toThrow('cut');

  const canceled = Promise.withResolvers<unknown>();
  const endless = new ReadableStream<Part>({
    pull: (controller) => controller.enqueue(start),
    cancel: canceled.resolve,
  });
  const reader = mergeDeltas(endless).getReader();
  await reader.read();
  await reader.cancel('enough');
  expect(await canceled.promise).toBe('enough');
});

test('a consumer that does not read holds the source back', async () => {
  let made = 0;
  const endless = new ReadableStream<Part>({
    pull: (controller) => {
      made += 1;
      controller.enqueue(start);
    },
  });
  const reader = mergeDeltas(endless).getReader();
  await reader.read();
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(made).toBeLessThan(50);
  await reader.cancel();
});
