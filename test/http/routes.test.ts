import { expect, test } from 'vitest';
import { routesOf } from '../../src/http/app.ts';
import { shapeOfPath } from '../../src/http/replies/render-error.ts';
import { openFixture, send, TURN } from '../support/http/http-fixture.ts';

const TABLE: readonly string[] = [
  'POST /openapi/v1/auth/token none bare',
  'POST /openapi/v1/messages key bare',
  'POST /openapi/v1/messages/count_tokens key bare',
  'POST /openapi/v1/chat/completions key chat',
  'POST /openapi/v1/responses key chat',
  'GET /openapi/v1/responses/:id key chat',
  'POST /openapi/v1/responses/:id/cancel key chat',
  'DELETE /openapi/v1/responses/:id key chat',
  'GET /openapi/v1/responses/:id/input_items key chat',
  'GET /openapi/v1/runs/:id key bare',
  'GET /openapi/v1/runs/:id/stream key bare sse',
  'GET /openapi/v1/sessions key bare',
  'GET /openapi/v1/sessions/:id/messages key bare',
  'GET /openapi/v1/sessions/:id/artifacts key bare',
  'GET /openapi/v1/runs/:id/artifacts key bare',
  'GET /openapi/v1/sessions/:id/capability-config key bare',
  'POST /openapi/v1/sessions/:id/stop key bare',
  'POST /openapi/v1/sessions/:id/fork key bare',
  'DELETE /openapi/v1/sessions/:id key bare',
  'GET /openapi/v1/models key chat',
  'GET /openapi/v1/models/:id key chat',
  'GET /files/:address/:name none bare',
  'GET /healthz none bare',
  'GET /readyz none bare',
  'POST /mcp key rpc',
  'GET /api/v1/status admin envelope',
  'POST /api/v1/doctor admin envelope',
  'GET /api/v1/configuration admin envelope',
  'POST /api/v1/configuration/pins admin envelope',
  'GET /api/v1/database admin envelope',
  'GET /api/v1/audit admin envelope',
  'GET /api/v1/audit/head admin envelope',
  'GET /api/v1/retention admin envelope',
  'GET /api/v1/retention/orphans admin envelope',
  'GET /api/v1/retention/progress admin envelope',
  'POST /api/v1/retention/collect admin envelope',
  'GET /api/v1/nodes admin envelope',
  'GET /api/v1/nodes/:ref admin envelope',
  'POST /api/v1/nodes/:ref/drain admin envelope',
  'POST /api/v1/nodes/:ref/undrain admin envelope',
  'DELETE /api/v1/nodes/:ref admin envelope',
  'GET /api/v1/users admin envelope',
  'POST /api/v1/users admin envelope',
  'POST /api/v1/users/plan-import admin envelope',
  'GET /api/v1/users/:ref admin envelope',
  'PATCH /api/v1/users/:ref admin envelope',
  'PUT /api/v1/users/:ref/password admin envelope',
  'GET /api/v1/users/:ref/holdings admin envelope',
  'POST /api/v1/users/:ref/leave admin envelope',
  'GET /api/v1/teams admin envelope',
  'POST /api/v1/teams admin envelope',
  'PATCH /api/v1/teams/:ref admin envelope',
  'GET /api/v1/keys admin envelope',
  'POST /api/v1/keys admin envelope',
  'GET /api/v1/keys/:ref admin envelope',
  'PATCH /api/v1/keys/:ref admin envelope',
  'DELETE /api/v1/keys/:ref admin envelope',
  'GET /api/v1/budgets admin envelope',
  'PUT /api/v1/budgets admin envelope',
  'GET /api/v1/budgets/:id admin envelope',
  'DELETE /api/v1/budgets/:id admin envelope',
  'GET /api/v1/experts admin envelope',
  'GET /api/v1/experts/:ref admin envelope',
  'POST /api/v1/definitions/experts/check admin envelope',
  'GET /api/v1/expert-teams admin envelope',
  'GET /api/v1/expert-teams/:ref admin envelope',
  'POST /api/v1/definitions/expert-teams/check admin envelope',
  'GET /api/v1/skills admin envelope',
  'GET /api/v1/skills/:ref admin envelope',
  'POST /api/v1/definitions/skills/check admin envelope',
  'GET /api/v1/plugins admin envelope',
  'GET /api/v1/plugins/:ref admin envelope',
  'POST /api/v1/definitions/plugins/check admin envelope',
  'GET /api/v1/mcp-servers admin envelope',
  'GET /api/v1/mcp-servers/:ref admin envelope',
  'POST /api/v1/definitions/mcp-servers/check admin envelope',
  'GET /api/v1/connectors admin envelope',
  'GET /api/v1/connectors/:ref admin envelope',
  'POST /api/v1/definitions/connectors/check admin envelope',
  'GET /api/v1/models admin envelope',
  'POST /api/v1/models/:ref/check admin envelope',
  'POST /api/v1/mcp-servers/:ref/check admin envelope',
  'GET /api/v1/connections admin envelope',
  'POST /api/v1/connections admin envelope',
  'DELETE /api/v1/connections/:id admin envelope',
  'POST /api/v1/connectors/:ref/check admin envelope',
  'POST /api/v1/connections/:id/check admin envelope',
  'GET /api/v1/sessions admin envelope',
  'GET /api/v1/sessions/:id admin envelope',
  'DELETE /api/v1/sessions/:id admin envelope',
  'GET /api/v1/sessions/:id/messages admin envelope',
  'GET /api/v1/sessions/:id/artifacts admin envelope',
  'POST /api/v1/sessions/:id/stop admin envelope',
  'POST /api/v1/sessions/:id/fork admin envelope',
  'GET /api/v1/runs/:id/artifacts admin envelope',
  'GET /api/v1/runs admin envelope',
  'GET /api/v1/runs/:id admin envelope',
  'GET /api/v1/runs/:id/timeline admin envelope',
  'GET /api/v1/runs/:id/export admin envelope',
  'GET /api/v1/runs/:id/stream admin envelope sse',
  'POST /api/v1/runs/:id/stop admin envelope',
  'GET /api/v1/queue admin envelope',
  'GET /api/v1/ids/:noun/:start admin envelope',
  'GET /openapi/v1/sessions/:id/user-inputs key bare',
  'POST /openapi/v1/user-inputs/:id/answer key bare',
  'GET /api/v1/user-inputs user envelope',
  'GET /api/v1/user-inputs/:id user envelope',
  'POST /api/v1/user-inputs/:id/answer user envelope',
  'POST /api/v1/user-inputs/:id/expire user envelope',
  'GET /api/v1/insights user envelope',
  'GET /api/v1/insights/:id user envelope',
  'PATCH /api/v1/insights/:id user envelope',
  'GET /api/v1/scheduled-tasks user envelope',
  'POST /api/v1/scheduled-tasks user envelope',
  'GET /api/v1/scheduled-tasks/:id user envelope',
  'PATCH /api/v1/scheduled-tasks/:id user envelope',
  'DELETE /api/v1/scheduled-tasks/:id user envelope',
  'POST /api/v1/scheduled-tasks/:id/run user envelope',
  'GET /api/v1/scheduled-tasks/:id/firings user envelope',
  'GET /api/v1/webhooks user envelope',
  'POST /api/v1/webhooks user envelope',
  'GET /api/v1/webhooks/:id user envelope',
  'PATCH /api/v1/webhooks/:id user envelope',
  'DELETE /api/v1/webhooks/:id user envelope',
  'POST /api/v1/webhooks/:id/test user envelope',
  'GET /api/v1/webhooks/:id/deliveries user envelope',
  'GET /api/v1/webhook-deliveries user envelope',
  'POST /api/v1/webhook-deliveries/redeliver user envelope',
  'GET /api/v1/webhook-deliveries/:id user envelope',
  'POST /api/v1/webhook-deliveries/:id/redeliver user envelope',
  'GET /api/v1/webhook-events user envelope',
  'GET /api/v1/webhook-events/sample user envelope',
  'GET /api/v1/tokens/keys admin envelope',
  'POST /api/v1/tokens/rotate admin envelope',
  'POST /api/v1/tokens/revoke-all admin envelope',
  'POST /api/v1/backups admin envelope',
  'GET /api/v1/backups/latest admin envelope',
  'POST /api/v1/backups/archive admin envelope',
  'POST /api/v1/backups/:id/cancel admin envelope',
  'POST /api/v1/backups/prune admin envelope',
  'GET /api/v1/office-mode/snapshot office envelope',
  'GET /api/v1/office-mode/live-runs office envelope',
  'GET /api/v1/office-mode/last-hour office envelope',
  'GET /api/v1/office-mode/teams/:team_id/today-active-runs office envelope',
  'GET /api/v1/office-mode/sessions/:id office envelope',
  'GET /api/v1/office-mode/sessions/:id/detail office envelope',
  'GET /api/v1/office-mode/sessions/:id/summary office envelope',
  'GET /api/v1/office-mode/sessions/:id/messages-with-files office envelope',
  'GET /api/v1/office-mode/office-runs/session/:id office envelope',
  'GET /api/v1/office-mode/sessions/:id/run-rounds office envelope',
  'GET /api/v1/office-mode/sessions/:id/context-usage office envelope',
  'GET /api/v1/office-mode/sessions/:id/computer/browser/:tool_use_id office envelope',
  'GET /api/v1/office-mode/sessions/:id/workspace/files office envelope',
  'GET /api/v1/office-mode/sessions/:id/workspace/archive office envelope',
  'GET /api/v1/office-mode/sessions/:id/stream-events office envelope',
  'GET /api/v1/office-mode/sessions/:id/stream office envelope sse',
  'GET /api/v1/office-mode/sessions/:id/run-events/stream office envelope sse',
  'POST /api/v1/office-mode/links office envelope',
  'DELETE /api/v1/office-mode/links office envelope',
  'GET /api/v1/office-mode/stream office envelope sse',
  'GET /office/api/snapshot web envelope',
  'GET /office/api/live-runs web envelope',
  'GET /office/api/last-hour web envelope',
  'GET /office/api/teams/:team_id/today-active-runs web envelope',
  'GET /office/api/sessions/:id web envelope',
  'GET /office/api/sessions/:id/detail web envelope',
  'GET /office/api/sessions/:id/summary web envelope',
  'GET /office/api/sessions/:id/messages-with-files web envelope',
  'GET /office/api/office-runs/session/:id web envelope',
  'GET /office/api/sessions/:id/run-rounds web envelope',
  'GET /office/api/sessions/:id/context-usage web envelope',
  'GET /office/api/sessions/:id/computer/browser/:tool_use_id web envelope',
  'GET /office/api/sessions/:id/workspace/files web envelope',
  'GET /office/api/sessions/:id/workspace/archive web envelope',
  'GET /office/api/sessions/:id/stream-events web envelope',
  'GET /office/api/sessions/:id/stream web envelope sse',
  'GET /office/api/sessions/:id/run-events/stream web envelope sse',
  'GET /office/api/stream web envelope sse',
  'GET /office/api/budgets web envelope',
  'GET /office/api/queue web envelope',
  'POST /office/login none envelope',
  'POST /office/logout none envelope',
  'GET /office/assets/:name none bare',
  'GET /office/ none bare',
  'GET /office none bare',
  'GET /office/plain web bare',
  'GET /office/*path none bare',
  'GET /api/v1/publishes user envelope',
  'POST /api/v1/publishes user envelope',
  'GET /api/v1/publishes/:publish_key user envelope',
  'PATCH /api/v1/publishes/:publish_key user envelope',
  'DELETE /api/v1/publishes/:publish_key user envelope',
  'GET /api/v1/publishes/:publish_key/versions user envelope',
  'POST /api/v1/publishes/:publish_key/versions user envelope',
  'GET /api/v1/shares user envelope',
  'GET /api/v1/shares/:share_code user envelope',
  'PATCH /api/v1/shares/:share_code user envelope',
  'DELETE /api/v1/shares/:share_code user envelope',
  'GET /api/v1/public/publishes none envelope',
  'GET /api/v1/public/publishes/:publish_key none envelope',
  'GET /api/v1/public/publishes/:publish_key/versions none envelope',
  'GET /api/v1/public/publishes/:publish_key/versions/:version_no/files none envelope',
  'GET /api/v1/public/shares/:share_code none envelope',
  'GET /api/v1/public/shares/:share_code/metadata none envelope',
  'GET /api/v1/public/shares/:share_code/content none envelope',
  'GET /api/v1/public/shares/:share_code/assets/*path none envelope',
  'GET /api/v1/public/shares/:share_code/media none envelope',
  'GET /share none bare',
  'GET /share/static/:name none bare',
  'GET /share/p/:publish_key none bare',
  'GET /share/:share_code none bare',
  'GET / none bare',
  'GET /openapi.json none bare',
];

test('the table of routes is this one', { tags: ['§9-paths', 'H2'] }, async () => {
  const fixture = await openFixture();
  const routes = routesOf(fixture.parts, () => 'gone');
  expect(routes.map((r) => `${r.method} ${r.path} ${r.guard} ${r.errors}${r.sse ? ' sse' : ''}`)).toEqual(TABLE);
});

test('the shape of each route is the shape of its path', async () => {
  const fixture = await openFixture();
  for (const route of routesOf(fixture.parts, () => 'gone'))
    expect([route.path, shapeOfPath(route.path)]).toEqual([route.path, route.errors]);
});

/** Who may pass each guard: the status is 401 or 403 for all others. */
const PASSES: Readonly<Record<string, readonly string[]>> = {
  none: ['nobody', 'conversation-key', 'disabled-key', 'admin-key'],
  key: ['conversation-key', 'global-key', 'admin-key', 'demoted-admin-key', 'global-key-of-admin'],
  admin: ['admin-key', 'token-of-admin'],
  office: ['admin-key'],
  web: ['admin-key'],
  user: ['admin-key', 'token-of-admin', 'token-of-user'],
};
const EVERYBODY = [
  ['nobody', 401],
  ['unknown-key', 401],
  ['disabled-key', 403],
  ['conversation-key', 403],
  ['global-key', 403],
  ['demoted-admin-key', 403],
  ['global-key-of-admin', 403],
  ['admin-key', 403],
  ['disabled-token', 403],
  ['token-of-user', 403],
  ['token-of-admin', 403],
] as const;

/** Where a key is needed, a valid login token isn't a credential at all. */
const refusalOf = (who: string, guard: string, status: number) =>
  ['key', 'office', 'web'].includes(guard) && who.startsWith('token-') ? 401 : status;

test.each(TABLE)(
  '%s lets exactly its callers pass',
  { tags: ['§5-credentials', '§5-rule-2', '§5-rule-5'] },
  async (line) => {
    const [method, path, guard] = line.split(' ') as [string, string, string];
    const fixture = await openFixture();
    const target = path.replace(':id', '0198c0de-0000-7000-8000-0000000000ff').replace(':ref', 'mara');
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: TURN };
    for (const [who, refusal] of EVERYBODY) {
      const as = who === 'nobody' ? {} : { as: who };
      const got = await send(fixture, { method, path: target, ...as, ...body });
      if (PASSES[guard]!.includes(who) || guard === 'none')
        expect([who, [401, 403].includes(got.status)]).toEqual([who, false]);
      else expect([who, got.status]).toEqual([who, refusalOf(who, guard, refusal)]);
    }
  },
);

test.each(TABLE)(
  '%s over the Unix socket takes the operator for an administrator, never for a key',
  { tags: ['K1-socket'] },
  async (line) => {
    const [method, path, guard] = line.split(' ') as [string, string, string];
    const fixture = await openFixture();
    const target = path.replace(':id', '0198c0de-0000-7000-8000-0000000000ff').replace(':ref', 'mara');
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: TURN };
    const got = await send(fixture, { method, path: target, via: 'socket', ...body });
    if (guard === 'key') expect(got.status).toBe(401);
    else expect([401, 403]).not.toContain(got.status);
  },
);

test.each(TABLE)('%s refuses other methods before it asks for a key', { tags: ['A1-order'] }, async (line) => {
  const [, path] = line.split(' ') as [string, string];
  const fixture = await openFixture();
  // A word in the place of an id, such as `redeliver`, is an id to the other methods.
  const isOf = (other: string) => new RegExp(`^${other.split(' ')[1]!.replace(/[:*]\w+/g, '[^/]+')}$`).test(path);
  const allowed = TABLE.filter(isOf).flatMap((other) => {
    const method = other.split(' ')[0]!;
    return method === 'GET' && !other.endsWith('sse') ? ['GET', 'HEAD'] : [method];
  });
  const target = path.replace(':id', '0198c0de-0000-7000-8000-0000000000ff').replace(':ref', 'mara');
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const got = await send(fixture, { method, path: target });
    if (allowed.includes(method)) expect([method, got.status]).not.toEqual([method, 405]);
    else {
      expect([method, got.status]).toEqual([method, 405]);
      expect(got.headers.allow).toBe([...new Set(allowed)].sort().join(', '));
    }
  }
});
