// JSON in pieces: the same text as at once, no piece of which is long.
import { expect, test } from 'vitest';
import { piecesOf, type Room, Streamed, streamedList } from '../../../src/http/replies/json-pieces.ts';
import type { Portions } from '../../../src/domain/portions.ts';

const pause = async () => undefined;
const ROOM: Room = { hold: pause, pause };

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
