// What is reported of answered requests, to be measured.
import { expect, test } from 'vitest';
import type { EndedRequest } from '../../../src/http/app.ts';
import { openFixture, send } from '../../support/http/http-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

test('an answered request is reported by the pattern of its route, never by its path', async () => {
  const ended: EndedRequest[] = [];
  const fixture = await openFixture({ parts: { requestEnded: (request) => void ended.push(request) } });
  await send(fixture, { path: '/openapi/v1/runs/0198c0de-0000-7000-8000-00000000abcd/stream', as: 'global-key' });
  await send(fixture, { path: '/openapi/v1/runs/secret', method: 'DELETE', as: 'global-key' });
  await send(fixture, { path: '/etc/passwd' });
  await waitFor(() => ended.length === 3);
  expect(ended.map(({ route, method, status }) => `${method} ${route} ${status}`)).toEqual([
    'GET /openapi/v1/runs/:id/stream 404',
    'DELETE null 405',
    'GET null 404',
  ]);
  expect(ended.every(({ durationMs }) => durationMs >= 0)).toBe(true);
});
