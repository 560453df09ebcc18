// JSON in pieces: the same text as at once, no piece of which is long.
import { expect, test } from 'vitest';
import { jsonPieces, piecesOf, type Room, Streamed, streamedList } from '../../../src/http/replies/json-pieces.ts';
import type { Portions } from '../../../src/domain/portions.ts';

const list = (length: number) =>
  Array.from({ length }, (_, index) => ({ index, text: `"${index}"\n🌊`, none: undefined }));
const pause = async () => undefined;
const ROOM: Room = { hold: pause, pause };
const LONGEST_PIECE = 100_000;

test.each([
  ['a long list in an envelope', { code: 0, message: 'ok', data: { id: 'x', items: list(5_000), none: [] } }],
  ['data that is a list', { code: 0, message: 'ok', data: list(5_000) }],
  ['a list at the top', list(5_000)],
  ['absent fields', { first: undefined, items: list(3_000), last: undefined }],
  ['a list with holes', [...list(3_000), undefined, null]],
  ['a long text', { text: '\u0001"\\'.repeat(200_000) }],
  ['characters of two units, cut at any place', ['x', 'xx', 'xxx'].map((start) => start + '🌊'.repeat(50_000))],
  ['halves of characters', { text: `${'a'.repeat(16_383)}\ud83c${'b'.repeat(20_000)}\udf0a` }],
  ['what is short', { a: { b: [1, true, null, 'x'] } }],
])('%s is written as JSON.stringify writes it', (_, body) => {
  const pieces = [...jsonPieces(body)];
  expect(pieces.join('')).toBe(JSON.stringify(body));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(LONGEST_PIECE);
});

async function* portions(...lists: readonly (readonly number[])[]): Portions<number> {
  for (const rows of lists) yield { bytes: rows.length, read: async () => rows };
}

const written = async (body: unknown, room: Room = ROOM) => (await Array.fromAsync(piecesOf(body, room))).join('');

test('streamed lists are written where they stand, one in another', async () => {
  const rendered = streamedList(portions([1, 2], [], [3]), (row) => ({
    row,
    inner: streamedList(portions([row]), String),
  }));
  const body = { code: 0, data: { none: undefined, items: rendered, empty: streamedList(portions([]), String) } };
  const inner = (row: number) => ({ row, inner: [String(row)] });
  expect(JSON.parse(await written(body))).toEqual({ code: 0, data: { items: [1, 2, 3].map(inner), empty: [] } });
});

test('a portion is read once there is room for it, and not before', async () => {
  const steps: string[] = [];
  async function* watched(): Portions<number> {
    for (const bytes of [10, 20])
      yield {
        bytes,
        read: async () => {
          steps.push(`read ${bytes}`);
          return [bytes];
        },
      };
  }
  const hold = async (bytes: number) => void steps.push(`hold ${bytes}`);
  const room = { hold, pause };
  await written({ items: streamedList(watched(), (row) => row) }, room);
  expect(steps).toEqual(['hold 40', 'read 10', 'hold 80', 'read 20']);
});

test('text that was made before is sent as it is', async () => {
  const made = new Streamed(async function* () {
    yield '{"a":';
    yield '1}';
  });
  expect(await written({ data: made })).toBe('{"data":{"a":1}}');
});
