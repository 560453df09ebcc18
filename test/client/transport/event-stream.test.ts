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

test('an event that the end of the stream cuts off is not told', async () => {
  expect(await read('data: whole\n\ndata: half\n', 4)).toEqual([{ id: null, event: 'message', data: 'whole' }]);
});

test('a byte order mark at the start is no part of the first field', async () => {
  expect(await read('\ufeffdata: x\n\n', 1)).toHaveLength(1);
});

test('an id with a NUL is not taken', async () => {
  expect(await read('id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n', 100)).toMatchObject([{ id: '1' }, { id: '1' }]);
});
