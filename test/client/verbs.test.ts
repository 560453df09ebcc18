import { expect, test } from 'vitest';
import { ClientError } from '../../src/client/transport/client-error.ts';
import type { CallManagement } from '../../src/client/references.ts';
import { verbsOf } from '../../src/client/verbs.ts';
import { endpoints, idOf } from '../../src/wire/endpoint.ts';
import { record, request } from '../../src/wire/shapes/record.ts';
import { boolean, string, uuid } from '../../src/wire/shapes/scalars.ts';
import { orElse, refersTo } from '../../src/wire/shapes/shape.ts';

const thing = record({ id: uuid, ownerName: string });
const params = { id: idOf('Thing', 'sessions') };
const wanted = request({ ownerName: refersTo('users', string), isOpen: orElse(boolean, false) });
// biome-ignore format: a table reads best with one endpoint a line
const things = endpoints('admin', 'envelope', {
  list: { route: 'GET /things', summary: 'List', query: wanted, reply: thing },
  change: { route: 'PATCH /boxes/:box/things/:id', summary: 'Change', params, body: wanted, reply: thing, patienceMs: 7 },
  stop: { route: 'POST /things/:id/stop', summary: 'Stop', params, reply: thing },
  download: { route: 'GET /things/:id/file', summary: 'Download', params, sendsFile: true },
});

function verbs() {
  const asked: unknown[][] = [];
  const call = (async (...request: unknown[]) => {
    asked.push(request);
    return { id: 'i', owner_name: 'o' };
  }) as CallManagement;
  const complete = async (noun: string, reference: string) => `${noun}:${reference}`;
  return { asked, ...verbsOf(things, call, complete) };
}

test('a verb calls its endpoint with its path, its query or its body, and completes what they refer to', async () => {
  const { asked, list, change, stop } = verbs();
  expect(await list({ owner_name: 'm', is_open: undefined })).toEqual({ id: 'i', owner_name: 'o' });
  await change('a/b', '01', { owner_name: 'm', is_open: true });
  await stop('01');
  expect(asked).toEqual([
    ['GET', '/things?owner_name=users%3Am', undefined, undefined],
    ['PATCH', '/boxes/a%2Fb/things/sessions%3A01', { owner_name: 'users:m', is_open: true }, 7],
    ['POST', '/things/sessions%3A01/stop', undefined, undefined],
  ]);
});

test.each([
  ['Session not found.', 'Session "01" not found.'],
  ['User not found.', 'User "mara" not found.'],
  ['Box not found.', 'Box "red" not found.'],
  ['There is no such place.', 'There is no such place.'],
])('what is not found is named as it was written: %s', async (message, named) => {
  const refused = new ClientError({ kind: 'refused', status: 404 }, message);
  const { change } = verbsOf(
    things,
    () => Promise.reject(refused),
    async (_, reference) => reference,
  );
  await expect(change('red', '01', { owner_name: 'mara', is_open: true })).rejects.toThrow(named);
});

test('a verb that is called with something else does not compile', () => {
  const { list, change } = verbs();
  // @ts-expect-error the name is one of the wire.
  const ofDomain = async () => list({ ownerName: 'm' });
  // @ts-expect-error the body is needed.
  const withoutBody = async () => change('a', '01');
  expect([ofDomain, withoutBody, 'download' in verbs()]).toHaveLength(3);
});
