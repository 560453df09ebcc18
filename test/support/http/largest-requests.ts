// The largest requests of each route, for an installation that has the most that tenants may have.
import type { JsonObject, JsonValue } from '../../../src/domain/json.ts';
import { DEFINITION_NOUNS } from '../../../src/operations/capabilities/definitions.ts';

/**
 * What is asked of routes without a body, one request a word: the names of the ids that fill the parameters of the path, with
 * slashes between them, and a query.
 */
export const REQUESTS: Readonly<Record<string, string>> = {
  'GET /openapi/v1/sessions': '?limit=500',
  'GET /openapi/v1/sessions/:id/messages': 'turns many steps',
  'GET /openapi/v1/sessions/:id/artifacts': 'files',
  'GET /openapi/v1/runs/:id/artifacts': 'runOfFiles',
  'GET /openapi/v1/runs/:id/stream': 'runOfStream',
  'GET /openapi/v1/sessions/:id/user-inputs': 'asked?limit=500',
  'GET /api/v1/status': '',
  'GET /api/v1/database': '',
  'GET /api/v1/audit': '?limit=500',
  'GET /api/v1/retention': '',
  'GET /api/v1/users': '',
  'GET /api/v1/teams': '',
  'GET /api/v1/nodes': '',
  'GET /api/v1/keys': '',
  'GET /api/v1/budgets': '?limit=500',
  'GET /api/v1/models': '',
  ...Object.fromEntries(DEFINITION_NOUNS.map((noun) => [`GET /api/v1/${noun}`, ''])),
  'GET /api/v1/connections': '',
  'GET /api/v1/sessions': '?limit=500',
  'GET /api/v1/sessions/:id/messages': 'turns many steps',
  'GET /api/v1/sessions/:id/artifacts': 'files',
  'GET /api/v1/runs/:id/artifacts': 'runOfFiles',
  'GET /api/v1/runs': '?limit=500',
  'GET /api/v1/runs/:id/timeline': 'runOfSteps',
  'GET /api/v1/runs/:id/export': 'runOfSteps',
  'GET /api/v1/runs/:id/stream': 'runOfStream',
  'GET /api/v1/user-inputs': '?limit=500',
  'GET /api/v1/queue': '?limit=500',
  'GET /api/v1/insights': '?limit=500',
  'GET /api/v1/scheduled-tasks': '?limit=500',
  'GET /api/v1/scheduled-tasks/:id/firings': 'task?limit=500',
  'GET /api/v1/webhooks': '?limit=500',
  'GET /api/v1/webhooks/:id/deliveries': 'hook?limit=500',
  'GET /api/v1/webhook-deliveries': '?limit=500',
  'GET /api/v1/webhook-deliveries/:id': 'delivery',
  'GET /api/v1/webhook-events': '?limit=100&after_id=0',
  'GET /api/v1/webhook-events/sample': '?event_type=session.completed',
  'GET /api/v1/office-mode/snapshot': '?limit=96',
  'GET /api/v1/office-mode/live-runs': '?limit=500',
  'GET /api/v1/office-mode/last-hour': '',
  'GET /api/v1/office-mode/teams/:team_id/today-active-runs': 'team?limit=50',
  'GET /api/v1/office-mode/sessions/:id': 'turns many steps',
  'GET /api/v1/office-mode/sessions/:id/detail': 'turns many steps',
  'GET /api/v1/office-mode/sessions/:id/summary': 'turns many steps',
  'GET /api/v1/office-mode/sessions/:id/messages-with-files': 'turns many?limit=200 steps',
  'GET /api/v1/office-mode/office-runs/session/:id': 'many?limit=500',
  'GET /api/v1/office-mode/sessions/:id/run-rounds': 'turns many?limit=500 steps',
  'GET /api/v1/office-mode/sessions/:id/context-usage': 'steps',
  'GET /api/v1/office-mode/sessions/:id/workspace/files': 'files',
  'GET /api/v1/office-mode/sessions/:id/workspace/archive': 'files',
  'GET /api/v1/office-mode/sessions/:id/stream-events': 'streamed?limit=500',
  'GET /api/v1/office-mode/sessions/:id/stream': 'streamed?replay=true',
  'GET /api/v1/office-mode/sessions/:id/run-events/stream': 'streamed?run_id=runOfStream',
  'GET /api/v1/office-mode/stream': '?after_id=0',
  'GET /office/plain': '',
  'GET /api/v1/users/:ref/holdings': 'user',
  'GET /api/v1/publishes': '?limit=500',
  'GET /api/v1/publishes/:publish_key': 'page',
  'GET /api/v1/publishes/:publish_key/versions': 'page?limit=500',
  'GET /api/v1/shares': '?limit=500',
  'GET /api/v1/public/publishes': '?limit=500 ?limit=500&name=l',
  'GET /api/v1/public/publishes/:publish_key': 'page',
  'GET /api/v1/public/publishes/:publish_key/versions': 'page?limit=200',
  'GET /api/v1/public/publishes/:publish_key/versions/:version_no/files': 'page/first',
  'GET /api/v1/public/shares/:share_code/metadata': 'share',
  'GET /share': '?limit=500',
  'GET /share/p/:publish_key': 'page',
  'GET /share/:share_code': 'share',
  'GET /openapi.json': '',
};

/** Those that end what the others ask for, and are asked last. */
export const ENDS: Readonly<Record<string, string>> = {
  'POST /openapi/v1/sessions/:id/fork': 'many',
  'POST /api/v1/sessions/:id/fork': 'many',
  'POST /openapi/v1/sessions/:id/stop': 'many',
  'POST /api/v1/sessions/:id/stop': 'many',
  'DELETE /api/v1/webhooks/:id': 'hook',
  'DELETE /api/v1/publishes/:publish_key': 'page',
  'DELETE /openapi/v1/sessions/:id': 'many',
  'DELETE /api/v1/sessions/:id': 'files',
};

/** As many messages and values as a request may have, of which the last is read. */
const manyMessages = (no: string) => ({
  model: 'any',
  background: true,
  idempotency_key: no,
  messages: [
    ...Array.from({ length: 9e3 }, () => ({
      role: 'user',
      content: ['', '', '', ''],
    })),
    {
      role: 'user',
      content: Array.from({ length: 1e3 }, () => ({
        type: 'text',
        text: 'ö"'.repeat(100),
      })),
    },
  ],
});
const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, no) => [`property${no}`, { type: 'string', maxLength: 9 }]));
/** The largest schema of a result. */
const structured = (no: string) => ({
  model: 'any',
  background: true,
  idempotency_key: no,
  messages: [
    {
      role: 'user',
      content: 'Go.',
    },
  ],
  output_format: {
    type: 'json_schema',
    schema: {
      type: 'object',
      properties: properties(900),
    },
  },
});
const line = 'ö'.repeat(200);
const task = (no: string) => ({
  name: no,
  cron: '59 23 29 2 1',
  timezone: 'Europe/Zurich',
  prompt: 'ö"'.repeat(50_000),
});
const webhook = (name: string) => ({
  name,
  url: `https://a.example/${'x'.repeat(2_000)}`,
  events: ['session.completed'],
});
const page = {
  description: 'ö"'.repeat(1_000),
  category: 'c'.repeat(50),
  tags: Array.from({ length: 20 }, (_, no) => `${no}`),
};
/** Without a text of 4 MB: what accepts, performs and records such a turn is known to be longer. */
const turnsOf = (no: string) => [manyMessages(no), structured(`${no} schema`), { model: 'any', messages: [] }];

const manyItems = {
  model: 'any',
  background: true,
  input: Array.from({ length: 9e3 }, () => ({ role: 'user', content: [{ type: 'input_text', text: 'x' }] })),
};

const callOf = (name: string, args: JsonObject) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});
const messagesOfMcp = [
  { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  callOf('run_task', { task: 'ö"'.repeat(100_000), wait_seconds: 0 }),
  callOf('run_task', { task: 'x', output_schema: { type: 'object', properties: properties(900) }, wait_seconds: 0 }),
];

type Bodies = (name: string) => readonly JsonObject[];

/** The largest bodies that are read to their end, by routes and the ids that fill their parameters. `name` is always another. */
export const BODIES: Readonly<Record<string, readonly [ids: string, bodies: Bodies]>> = {
  'POST /openapi/v1/auth/token': [
    '',
    () => [{ grant_type: 'password', username: 'u'.repeat(256), password: 'p'.repeat(1_000) }],
  ],
  'POST /openapi/v1/messages': ['', turnsOf],
  'POST /openapi/v1/messages/count_tokens': ['', turnsOf],
  'POST /openapi/v1/chat/completions': ['', () => [{ model: 'any', messages: [] }]],
  'POST /openapi/v1/responses': ['', () => [manyItems, { model: 'any', input: [] }]],
  'POST /mcp': ['', () => messagesOfMcp],
  'POST /api/v1/retention/collect': ['', () => [{}]],
  'POST /api/v1/users': [
    '',
    (username) => [{ username, full_name: line, department: line, password: 'p'.repeat(1_000) }],
  ],
  'POST /api/v1/configuration/pins': [
    '',
    () => [{ models: Array.from({ length: 9_000 }, (_, no) => `model-${no}`), scenarios: [], experts: [], teams: [] }],
  ],
  'POST /api/v1/users/plan-import': [
    '',
    () => [
      { users: Array.from({ length: 1_000 }, (_, no) => ({ username: `u${no}`, full_name: line })), key_name: 'k' },
    ],
  ],
  // Whoever has nothing: each thing is settled in a commit of its own.
  'POST /api/v1/users/:ref/leave': ['nobody', () => [{ hand_over_to: line }]],
  'PATCH /api/v1/users/:ref': ['user', () => [{ full_name: line, department: line }]],
  'PUT /api/v1/users/:ref/password': ['user', () => [{ password: 'p'.repeat(1_000) }]],
  'POST /api/v1/teams': ['', (name) => [{ name, budget_amount_usd: 5 }]],
  'PATCH /api/v1/teams/:ref': ['teamName', () => [{ budget_amount_usd: 5 }]],
  'POST /api/v1/keys': [
    '',
    (name) => [
      {
        name,
        user: 'admin',
        scope: 'conversation',
        capability_config: { skill_ids: Array.from({ length: 100 }, (_, no) => `skill-${no}`) },
      },
    ],
  ],
  'PATCH /api/v1/keys/:ref': ['key', (name) => [{ name }]],
  'PUT /api/v1/budgets': ['', () => [{ subject: 'run', unit: 'usd', period: 'all', limit: 5 }]],
  'POST /api/v1/models/:ref/check': ['model', () => [{}]],
  'POST /api/v1/connections': ['', (name) => [{ user: 'admin', connector: 'c', name, secret: 's'.repeat(8_192) }]],
  'POST /openapi/v1/user-inputs/:id/answer': [
    'question',
    () => [{ answers: Array.from({ length: 16_000 }, () => 'ö') }],
  ],
  'POST /api/v1/user-inputs/:id/answer': ['question', () => [{ answers: Array.from({ length: 16_000 }, () => 1) }]],
  'PATCH /api/v1/insights/:id': ['insight', () => [{ status: 'resolved' }]],
  'POST /api/v1/scheduled-tasks': [
    '',
    (name) => [
      { ...task(name), user: 'person-1' },
      { name, cron: '* * * * *' },
    ],
  ],
  'PATCH /api/v1/scheduled-tasks/:id': ['task', (name) => [{ ...task(name), enabled: true }, { name }]],
  'POST /api/v1/webhooks': ['', (name) => [webhook(name)]],
  'PATCH /api/v1/webhooks/:id': ['hook', (name) => [webhook(name)]],
  'POST /api/v1/webhooks/:id/test': ['hook', () => [{ event_type: 'session.completed' }]],
  'POST /api/v1/webhook-deliveries/redeliver': ['', () => [{ webhook_id: 1, since: '2020-01-01T00:00:00Z' }]],
  'POST /api/v1/backups': ['', () => [{ directory: '/no/such/place' }]],
  'POST /api/v1/backups/archive': ['', () => [{}]],
  'POST /api/v1/backups/prune': ['', () => [{}]],
  'POST /api/v1/publishes': ['', (name) => [{ ...page, name, entry_path: '/index.html' }]],
  'PATCH /api/v1/publishes/:publish_key': ['page', (name) => [{ ...page, name }]],
  'POST /api/v1/publishes/:publish_key/versions': ['page', () => [{ reason: 'ö"'.repeat(250) }]],
  'PATCH /api/v1/shares/:share_code': ['share', () => [{ expires_at: null }]],
};

/** Values that take the most of those who parse and check them, in less than 1 MB. */
export const WORST: readonly JsonValue[] = [
  Array.from({ length: 99_000 }, () => 0),
  Array.from({ length: 60_000 }, () => '\u0001'),
  '\u0001'.repeat(130_000),
  Array.from({ length: 40 }, () => properties(900)),
  JSON.parse(`${'[{"a":'.repeat(30)}1${'}]'.repeat(30)}`) as JsonValue,
];
