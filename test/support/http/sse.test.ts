import { expect, test } from 'vitest';
import { collectSse, makeSseParser, readSse } from './sse.ts';

const STREAM = 'id: 7\nevent: note\ndata: één\ndata: two\n\n: ping\n\ndata:{"a":1}\n\n';
const EVENTS = [
  { id: '7', event: 'note', data: 'één\ntwo', comment: null },
  { id: null, event: null, data: null, comment: 'ping' },
  { id: null, event: null, data: '{"a":1}', comment: null },
];

test('events, comments and multi-line data are distinguished', () => {
  expect(makeSseParser().push(STREAM)).toEqual(EVENTS);
});

test('a stream cut at every byte gives the same events', () => {
  const parser = makeSseParser();
  const events = [...Buffer.from(STREAM)].flatMap((byte) => parser.push(Uint8Array.of(byte)));
  expect(events).toEqual(EVENTS);
  expect(parser.rest()).toBeNull();
});

test.each([
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('line ends by %s give the same events, whole and byte by byte', (_, end) => {
  const bytes = Buffer.from(STREAM.replaceAll('\n', end));
  expect(makeSseParser().push(bytes)).toEqual(EVENTS);
  const parser = makeSseParser();
  expect([...bytes].flatMap((byte) => parser.push(Uint8Array.of(byte)))).toEqual(EVENTS);
});

test('an event comes out with the bytes that complete it, not later', () => {
  const parser = makeSseParser();
  expect(parser.push('data: a\n')).toEqual([]);
  expect(parser.push('\nda')).toEqual([{ id: null, event: null, data: 'a', comment: null }]);
  expect(parser.push('ta: b\n\n')).toHaveLength(1);
});

test('a stream that ends within an event is refused', async () => {
  async function* body() {
    yield Buffer.from('data: whole\n\ndata: ha');
  }
  const seen: (string | null)[] = [];
  const read = async () => {
    for await (const event of readSse(body())) seen.push(event.data);
  };
  await expect(read()).rejects.toThrow('ended within an event: ');
  expect(seen).toEqual(['whole']);
});

test('a field with an empty value is not a missing field', async () => {
  async function* body() {
    yield Buffer.from('id:\ndata\n\n');
  }
  expect(await collectSse(body())).toEqual([{ id: '', event: null, data: '', comment: null }]);
});
