import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import type { Exchange } from '../../../src/http/frame/exchange.ts';
import { positionInRequest, readHeaders, readQuery } from '../../../src/http/frame/query.ts';
import { object } from '../../../src/wire/shapes/composites.ts';
import { turnHeaders } from '../../../src/wire/conversations/headers.ts';
import { pageFields } from '../../../src/wire/listing.ts';
import { oneOf, string } from '../../../src/wire/shapes/scalars.ts';
import { optional } from '../../../src/wire/shapes/shape.ts';

const shape = object({ state: optional(oneOf(['on', 'off'])), name: optional(string), ...pageFields });
const PAGE = { limit: 100, offset: 0 };

test.each([
  ['', PAGE],
  ['state=on&limit=500&offset=9007199254740991', { state: 'on', limit: 500, offset: 9_007_199_254_740_991 }],
  ['name=', { name: '', ...PAGE }],
  ['name=a%20b+c', { name: 'a b c', ...PAGE }],
  ['other=1&other=2&toString=x&__proto__=y', PAGE],
])('the query "%s" is read', (text, read) => {
  expect(readQuery(text, shape)).toEqual(read);
});

test.each([
  ['state=on&state=on', 'state: must be given once'],
  ['state=ON', 'state: must be one of on, off'],
  ['name=%00', 'name: must not contain a NUL character'],
  ['limit=0', 'limit: must be an integer from 1 to 500'],
  ['limit=501', 'limit: must be an integer from 1 to 500'],
  ['limit=1e2', 'limit: must be an integer from 1 to 500'],
  ['limit=', 'limit: must be an integer from 1 to 500'],
  ['offset=-1', 'offset: must be an integer from 0'],
  ['offset=9007199254740993', 'offset: must be an integer from 0'],
])('the query "%s" is refused', { tags: ['A8-queries'] }, (text, words) => {
  expect(() => readQuery(text, shape)).toThrow(words);
});

const withHeaders = (headers: IncomingMessage['headers']) => ({ headers }) as IncomingMessage;

test('headers are read whatever the case that the shape writes them in', () => {
  const read = readHeaders(
    withHeaders({ 'idempotency-key': 'k', 'x-stream-tool-events': 'true', other: 'x' }),
    turnHeaders,
  );
  expect(read).toEqual({ 'Idempotency-Key': 'k', 'X-Stream-Event-Ids': false, 'X-Stream-Tool-Events': true });
});

test('a header is refused under the name that clients know', () => {
  expect(() => readHeaders(withHeaders({ 'errand-session-id': 'x' }), turnHeaders)).toThrow(
    'Errand-Session-Id: must be a UUID',
  );
});

const position = (header: string | undefined, after: number) =>
  positionInRequest({
    req: withHeaders(header === undefined ? {} : { 'last-event-id': header }),
    query: { after },
  } as Exchange<{ readonly after: number }>);

test('a stream continues after the larger of header and query', () => {
  expect([position(undefined, 0), position('', 3), position('7', 3), position('2', 3)]).toEqual([0, 3, 7, 3]);
  expect(() => position('x', 0)).toThrow('Last-Event-ID: must be an event id: an integer from 0');
});
