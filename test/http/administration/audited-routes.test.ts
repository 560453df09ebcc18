// Every path by which an administrator reads, over HTTP: what the audit log has of it, and that what it has nothing of shows nothing
// of others (G10).
import { beforeEach, expect, test } from 'vitest';
import type { AuditAction } from '../../../src/domain/people/audit.ts';
import { UNASSIGNED_TEAM } from '../../../src/domain/sessions/office.ts';
import { routesOf } from '../../../src/http/app.ts';
import { type AuditedFixture, auditedFixture, ROOT } from '../../support/store/audited-fixture.ts';
import { type Fixture, openFixture } from '../../support/http/http-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const NOTHING = 'nothing of others';

/**
 * What each path leaves in the log. A path without a line fails. Those that show nothing of others show the installation, accounts and
 * their figures, or ids.
 */
const READS: Readonly<Record<string, AuditAction | typeof NOTHING>> = {
  '/api/v1/status': NOTHING,
  '/api/v1/configuration': NOTHING,
  '/api/v1/database': NOTHING,
  '/api/v1/audit': NOTHING,
  '/api/v1/audit/head': NOTHING,
  '/api/v1/retention': NOTHING,
  '/api/v1/retention/orphans': NOTHING,
  '/api/v1/retention/progress': NOTHING,
  '/api/v1/users': NOTHING,
  '/api/v1/users/:ref': NOTHING,
  '/api/v1/users/:ref/holdings': 'user.read',
  '/api/v1/teams': NOTHING,
  '/api/v1/nodes': NOTHING,
  '/api/v1/nodes/:ref': NOTHING,
  '/api/v1/keys': NOTHING,
  '/api/v1/keys/:ref': NOTHING,
  '/api/v1/budgets': NOTHING,
  '/api/v1/budgets/:id': NOTHING,
  '/api/v1/experts': NOTHING,
  '/api/v1/experts/:ref': NOTHING,
  '/api/v1/expert-teams': NOTHING,
  '/api/v1/expert-teams/:ref': NOTHING,
  '/api/v1/skills': NOTHING,
  '/api/v1/skills/:ref': NOTHING,
  '/api/v1/plugins': NOTHING,
  '/api/v1/plugins/:ref': NOTHING,
  '/api/v1/mcp-servers': NOTHING,
  '/api/v1/mcp-servers/:ref': NOTHING,
  '/api/v1/connectors': NOTHING,
  '/api/v1/connectors/:ref': NOTHING,
  '/api/v1/models': NOTHING,
  '/api/v1/connections': NOTHING,
  '/api/v1/queue': NOTHING,
  '/api/v1/ids/:noun/:start': NOTHING,
  '/api/v1/tokens/keys': NOTHING,
  '/api/v1/backups/latest': NOTHING,
  '/api/v1/office-mode/last-hour': NOTHING,
  '/api/v1/sessions': 'session.list',
  '/api/v1/sessions/:id': 'session.read',
  '/api/v1/sessions/:id/messages': 'session.read',
  '/api/v1/sessions/:id/artifacts': 'session.read',
  '/api/v1/runs': 'run.list',
  '/api/v1/runs/:id': 'run.read',
  '/api/v1/runs/:id/artifacts': 'run.read',
  '/api/v1/runs/:id/timeline': 'run.read',
  '/api/v1/runs/:id/export': 'run.read',
  '/api/v1/runs/:id/stream': 'run.follow',
  '/api/v1/user-inputs': 'question.list',
  '/api/v1/user-inputs/:id': 'question.read',
  '/api/v1/insights': 'insight.list',
  '/api/v1/insights/:id': 'insight.read',
  '/api/v1/scheduled-tasks': 'scheduled_task.list',
  '/api/v1/scheduled-tasks/:id': 'scheduled_task.read',
  '/api/v1/scheduled-tasks/:id/firings': 'scheduled_task.read',
  '/api/v1/webhooks': 'webhook.list',
  '/api/v1/webhooks/:id': 'webhook.read',
  '/api/v1/webhooks/:id/deliveries': 'delivery.list',
  '/api/v1/webhook-deliveries': 'delivery.list',
  '/api/v1/webhook-deliveries/:id': 'delivery.read',
  '/api/v1/webhook-events': 'house.follow',
  '/api/v1/webhook-events/sample': 'session.read',
  '/api/v1/publishes': 'page.list',
  '/api/v1/publishes/:publish_key': 'page.read',
  '/api/v1/publishes/:publish_key/versions': 'page.read',
  '/api/v1/shares': 'share.list',
  '/api/v1/shares/:share_code': 'share.read',
  '/api/v1/office-mode/snapshot': 'house.read',
  '/api/v1/office-mode/live-runs': 'house.read',
  '/api/v1/office-mode/teams/:team_id/today-active-runs': 'house.read',
  '/api/v1/office-mode/sessions/:id': 'session.read',
  '/api/v1/office-mode/sessions/:id/detail': 'session.read',
  '/api/v1/office-mode/sessions/:id/summary': 'session.read',
  '/api/v1/office-mode/sessions/:id/messages-with-files': 'session.read',
  '/api/v1/office-mode/office-runs/session/:id': 'session.read',
  '/api/v1/office-mode/sessions/:id/run-rounds': 'session.read',
  '/api/v1/office-mode/sessions/:id/context-usage': 'session.read',
  '/api/v1/office-mode/sessions/:id/computer/browser/:tool_use_id': 'session.read',
  '/api/v1/office-mode/sessions/:id/workspace/files': 'session.read',
  '/api/v1/office-mode/sessions/:id/workspace/archive': 'session.read',
  '/api/v1/office-mode/sessions/:id/stream-events': 'session.read',
  '/api/v1/office-mode/sessions/:id/stream': 'session.read',
  '/api/v1/office-mode/sessions/:id/run-events/stream': 'session.read',
  '/api/v1/office-mode/stream': 'house.follow',
};

/** In browsers, the same; and the floor without a script. */
const IN_BROWSERS = Object.entries(READS).flatMap(([path, line]) =>
  path.startsWith('/api/v1/office-mode/')
    ? [[path.replace('/api/v1/office-mode/', '/office/api/'), line] as const]
    : [],
);
const EVERY_READ: Readonly<Record<string, AuditAction | typeof NOTHING>> = {
  ...READS,
  ...Object.fromEntries(IN_BROWSERS),
  '/office/api/queue': NOTHING,
  '/office/api/budgets': NOTHING,
  '/office/plain': 'house.read',
};

let built: AuditedFixture;
let fixture: Fixture;

beforeEach(async () => {
  built = await auditedFixture();
  // These two report what the HTTP fixture plays.
  const { getStatus: _status, getConfiguration: _configuration, ...verbs } = built.operations;
  if (ROOT.kind !== 'key') throw new Error('The administrator has no key.');
  const { user, key } = ROOT;
  fixture = await openFixture({ operations: { ...verbs, authenticate: async () => ({ kind: 'key', user, key }) } });
});

/** What each address needs, by what precedes its parameter. */
function targetOf(path: string): string {
  const { run, questionId, insightId, task, webhook, deliveryId, page } = built;
  const ids: readonly (readonly [RegExp, string | number])[] = [
    [/(?<=(?:sessions|session)\/):id/, run.sessionId],
    [/(?<=runs\/):id/, run.id],
    [/(?<=user-inputs\/):id/, questionId],
    [/(?<=insights\/):id/, insightId],
    [/(?<=scheduled-tasks\/):id/, task.id],
    [/(?<=webhooks\/):id/, webhook.id],
    [/(?<=webhook-deliveries\/):id/, deliveryId],
    [/(?<=budgets\/):id/, '0198c0de-0000-7000-8000-0000000000ff'],
    [/:publish_key/, page.key],
    [/:share_code/, page.shareCode],
    [/:team_id/, UNASSIGNED_TEAM.id],
    [/:noun/, 'sessions'],
    [/:start/, run.sessionId.slice(0, 24)],
    [/(?<=users\/):ref/, 'mara'],
    [/(?<=keys\/):ref/, built.key.id],
    [/(?<=nodes\/):ref/, 'here'],
    [/:ref/, 'tide'],
    [/:tool_use_id/, 'x'],
  ];
  const target = ids.reduce((text, [parameter, value]) => text.replace(parameter, String(value)), path);
  const { run: its } = built;
  if (path.endsWith('/run-events/stream')) return `${target}?run_id=${its.id}`;
  if (path === '/api/v1/webhook-events') return `${target}?owner_scope=system&wait_seconds=0&after_id=0`;
  if (path.endsWith('/sample')) return `${target}?event_type=session.failed&session_id=${its.sessionId}`;
  return target;
}

/** The reply; of a stream, nothing but that it was asked for. */
async function read(path: string, isStream: boolean): Promise<{ status: number; text: string }> {
  const leave = new AbortController();
  const address = `${fixture.url}${targetOf(path)}`;
  const reply = fetch(address, { headers: { authorization: 'Bearer any' }, signal: leave.signal });
  if (!isStream) return reply.then(async (response) => ({ status: response.status, text: await response.text() }));
  reply.catch(() => undefined);
  await waitFor(async () => (await built.entries()).length > 0);
  leave.abort();
  return { status: 200, text: '' };
}

test('every path by which administrators read has a line', { tags: ['G10'] }, () => {
  const reads = routesOf(fixture.parts, () => '').filter(
    ({ method, guard }) => method === 'GET' && ['admin', 'office', 'web', 'user'].includes(guard),
  );
  expect(reads.map(({ path }) => path).sort()).toEqual(Object.keys(EVERY_READ).sort());
});

test.each(Object.entries(EVERY_READ))('%s leaves in the log: %s', async (path, line) => {
  const { status, text } = await read(path, path.endsWith('/stream'));
  const actions = (await built.entries()).map(({ action }) => action);
  if (line !== NOTHING) {
    expect([status, actions]).toEqual([path.includes('browser') ? 404 : 200, [line]]);
    return;
  }
  expect(actions).toEqual([]);
  // What only others have written or published, as it is seeded.
  const { page, webhook } = built;
  const words = ['Tides', 'tides', 'Salt', 'It rusts', 'The moon', page.key, page.shareCode, webhook.url];
  for (const word of words) expect(text).not.toContain(word);
});
