// Events must come out whole, whatever way their bytes were cut.
import { expect, test } from 'vitest';
import { readEvents, type ServerEvent } from '../../../src/client/transport/event-stream.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(inPieces(new TextEncoder().encode(text), size))) events.push(event);
  return events;
}

const STREAM =
  ': hello\n\nid: 1\nevent: a\ndata: {"text":"日本 é 👩‍🚀"}\n\nid: 2\ndata:one\ndata: two\n\nretry: 10\n\ndata\n\nid: 9\n';
const EVENTS: ServerEvent[] = [
  { id: '1', event: 'a', data: '{"text":"日本 é 👩‍🚀"}' },
  { id: '2', event: 'message', data: 'one\ntwo' },
  { id: '2', event: 'message', data: '' },
];

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('lines that end in %s give the same events however they are cut', async (_name, lineEnd) => {
  const text = STREAM.replaceAll('\n', lineEnd);
  for (const size of [1, 2, 3, 5, 7, 1000]) expect(await read(text, size)).toEqual(EVENTS);
});

test('an event that the end of the stream cuts off is not reported', async () => {
  expect(await read('data: whole\n\ndata: half\n', 4)).toEqual([{ id: null, event: 'message', data: 'whole' }]);
});

test('a byte order mark at the start is not part of the first field', async () => {
  expect(await read('\ufeffdata: x\n\n', 1)).toHaveLength(1);
});

test('an id with a NUL is not taken', async () => {
  expect(await read('id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n', 100)).toMatchObject([{ id: '1' }, { id: '1' }]);
});

test.each([
  ['one line', `data: ${'x'.repeat(200)}\n\n`],
  ['many lines', 'data: xxxx\n'.repeat(40)],
])('an event of %s that is longer than the limit is refused, after the one before it', async (_name, long) => {
  for (const size of [1, 7, 150]) {
    const events: ServerEvent[] = [];
    const reading = async () => {
      const chunks = inPieces(new TextEncoder().encode(`data: whole\n\n${long}`), size);
      for await (const event of readEvents(chunks, 100)) events.push(event);
    };
    await expect(reading()).rejects.toMatchObject({ failure: { kind: 'malformed' } });
    expect(events).toEqual([{ id: null, event: 'message', data: 'whole' }]);
  }
});

test('the limit is for one event: any number of them may follow', async () => {
  const chunks = inPieces(new TextEncoder().encode(`data: ${'x'.repeat(50)}\n\n`.repeat(50)), 30);
  expect(await Array.fromAsync(readEvents(chunks, 100))).toHaveLength(50);
});
