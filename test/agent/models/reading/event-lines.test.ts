// Events out of bytes, however they are cut.
import { expect, test } from 'vitest';
import { makeEventLines, type ServerEvent } from '../../../../src/agent/models/reading/event-lines.ts';

function read(pieces: readonly string[], maxBytes = 1_000): { events: ServerEvent[]; fits: boolean } {
  const events: ServerEvent[] = [];
  const lines = makeEventLines(maxBytes, (event) => events.push(event));
  return { fits: pieces.every((piece) => lines.take(Buffer.from(piece, 'latin1'))), events };
}

const STREAM =
  'event: a\r\ndata: 1\r\ndata:2\r\n\r\n: ping\n\ndata: {"x":"y: z"}\n\nerror: {"code":500}\n\nretry: 3\n\n';
const EVENTS: readonly ServerEvent[] = [
  { name: 'a', data: '1\n2' },
  { name: '', data: '{"x":"y: z"}' },
  { name: 'error', data: '{"code":500}' },
];

test.each([1, 2, 7, 1_000])('events in pieces of %i bytes are the same', (size) => {
  const pieces = Array.from({ length: Math.ceil(STREAM.length / size) }, (_, i) =>
    STREAM.slice(i * size, (i + 1) * size),
  );
  expect(read(pieces)).toEqual({ fits: true, events: EVENTS });
});

test('a character cut in two is whole again', () => {
  const bytes = Buffer.from('data: é\n\n').toString('latin1');
  expect(read([bytes.slice(0, 7), bytes.slice(7)]).events).toEqual([{ name: '', data: 'é' }]);
});

test.each([
  ['a line', ['data: ', 'x'.repeat(60), 'x'.repeat(60)]],
  ['an event of many lines', Array.from({ length: 20 }, () => 'data: xxxx\n')],
  ['a comment', [`: ${'x'.repeat(200)}`]],
  ['an event in one piece', [`data: ${'x'.repeat(200)}\n\n`]],
])('%s beyond the limit is not held', (_name, pieces) => {
  expect(read(pieces, 100)).toEqual({ fits: false, events: [] });
});

test('the limit is for one event: any number of them may follow', () => {
  const { fits, events } = read(
    Array.from({ length: 50 }, () => `data: ${'x'.repeat(50)}\n\n`),
    100,
  );
  expect([fits, events.length]).toEqual([true, 50]);
});
