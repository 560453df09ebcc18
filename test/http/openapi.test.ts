// The description of the interface, as anyone gets it.
import { expect, test } from 'vitest';
import { describeInterface } from '../../scripts/openapi/describe.ts';
import { WEBHOOK_EVENT_TYPES } from '../../src/domain/webhooks/webhook.ts';
import { openFixture, send } from '../support/http/http-fixture.ts';
import { ROUTES } from '../support/http/route-table.ts';

interface Document {
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly operationId: string } }>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

test('it is served to anyone, and is the one that the build writes', async () => {
  const { status, json } = await send(await openFixture(), { path: '/openapi.json' });
  expect(status).toBe(200);
  expect(json).toEqual(JSON.parse(describeInterface()));
});

test('it has every route of the table but those of Office Mode in a browser, each under a name of its own', async () => {
  const { paths } = (await send(await openFixture(), { path: '/openapi.json' })).json as Document;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const described = ROUTES.filter(({ path }) => !path.startsWith('/office/'));
  expect(operations).toHaveLength(described.length);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(described.length);
});

test('it has every event that a webhook can be sent', async () => {
  const { webhooks } = (await send(await openFixture(), { path: '/openapi.json' })).json as Document;
  expect(Object.keys(webhooks)).toEqual(WEBHOOK_EVENT_TYPES);
  expect(webhooks['session.completed']?.post.operationId).toBe('SessionCompletedEvent');
});
