// What the interface promises for every endpoint: who may use it, which ids and numbers it accepts, and how it refuses.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentsOf, rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type StopReply, stopped } from '../../support/daemon/stopped.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const UNKNOWN_ID = '0190f6a0-0000-7000-8000-000000000000';
const MESSAGES = '/openapi/v1/messages';
const CHAT = '/openapi/v1/chat/completions';
const SESSIONS = '/openapi/v1/sessions';

let model: ModelServer;
let daemon: DaemonProcess;
/** Keys by their holder; `ada` and `sister` are two keys of one user. */
const keys = { ada: '', sister: '', ben: '', listed: '', admin: '' };
/** Ids that the tables name in braces; all of them belong to `ada`. */
const known: Record<string, string> = { unknown: UNKNOWN_ID };

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

async function call(method: string, path: string, key: string | null, body?: unknown): Promise<Got> {
  const response = await fetch(daemon.url + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = text !== '' && response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as Got['json']) : {},
  };
}

const turn = (content: string, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more });
const at = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? `{${name}}`);
const ended = (status: unknown) => !['queued', 'running', 'finalizing'].includes(String(status));

interface BackgroundResults {
  readonly run_id: string;
  readonly status: string;
}

const resultsOf = ({ json }: Got) => json['background_results'] as BackgroundResults;

async function poll(runId: string, key = keys.ada): Promise<Got> {
  return waitFor(
    async () => {
      const got = await call('GET', `/openapi/v1/runs/${runId}`, key);
      return got.status === 200 && ended(resultsOf(got).status) ? got : false;
    },
    { everyMs: 200, what: `run ${runId} has ended` },
  );
}

async function keyFor(user: string): Promise<string> {
  return ((await daemon.admin('POST', '/api/v1/keys', { user, scope: 'conversation' })) as { key: string }).key;
}

/** Runs one ordinary turn and answers the ids of its session and run. */
async function settled(key: string, text: string): Promise<{ session: string; run: string }> {
  const got = await call('POST', MESSAGES, key, turn(text));
  return { session: got.headers.get('x-session-id') ?? '', run: got.headers.get('x-run-id') ?? '' };
}

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'background: { polls_per_second: 1000 }\n',
  });
  for (const username of ['ada', 'ben', 'cleo']) await daemon.admin('POST', '/api/v1/users', { username });
  keys.admin = daemon.apiKey;
  [keys.ada, keys.sister, keys.ben, keys.listed] = (await Promise.all(['ada', 'ada', 'ben', 'cleo'].map(keyFor))) as [
    string,
    string,
    string,
    string,
  ];
  const mine = await settled(keys.ada, '[[text=mine]]');
  const gone = await settled(keys.ada, '[[text=soon gone]]');
  const task = await call(
    'POST',
    MESSAGES,
    keys.ada,
    turn('[[text=task]]', { background: true, idempotency_key: 'task' }),
  );
  await poll(resultsOf(task).run_id);
  const lost = turn('[[text=task]]', { background: true, idempotency_key: 'lost' });
  const deletedTask = await call('POST', MESSAGES, keys.ada, lost);
  await poll(resultsOf(deletedTask).run_id);
  Object.assign(known, {
    session: mine.session,
    run: mine.run,
    deleted: gone.session,
    goneRun: gone.run,
    task: resultsOf(task).run_id,
    goneTask: resultsOf(deletedTask).run_id,
  });
  for (const id of [gone.session, deletedTask.headers.get('x-session-id')])
    expect((await call('DELETE', `${SESSIONS}/${id}`, keys.ada)).status).toBe(200);
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'not_found_error',
  409: 'invalid_request_error',
  413: 'invalid_request_error',
  422: 'invalid_request_error',
};

/** A refusal has its type in the shape of its path. */
function expectRefusal(got: Got, path: string, status: number): void {
  expect(got.status, got.text).toBe(status);
  const words = expect.stringMatching(/.{6}/) as string;
  const error = { type: TYPES[status], message: words };
  if (path.startsWith('/api/')) expect(got.json).toEqual({ code: status, message: words, data: null });
  else if (path.startsWith('/openapi/v1/chat') || path === '/openapi/v1/models')
    expect(got.json).toEqual({
      error: { ...error, param: expect.toBeOneOf([null, expect.any(String)]) as null, code: null },
    });
  else expect(got.json).toEqual({ type: 'error', error });
  expect(got.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(got.headers.has('x-run-id')).toBe(false);
}

/** Everything that a refused request might have changed. */
async function everything(): Promise<unknown> {
  // The texts of deleted sessions go a little after the answer.
  await waitFor(() => rowsOf(daemon, 'SELECT 1 FROM cleanups').length === 0);
  const sessions = rowsOf(daemon, 'SELECT id, status, updated_at, deleted_at FROM sessions ORDER BY seq');
  return {
    contents: await contentsOf(daemon),
    sessions,
    runs: rowsOf(daemon, 'SELECT id, status FROM runs ORDER BY seq'),
  };
}

describe('an endpoint of one session or run', () => {
  /** Endpoints, with `{id}` in the place of the id. */
  const OF_SESSIONS = [
    ['GET', `${SESSIONS}/{id}/messages`],
    ['GET', `${SESSIONS}/{id}/capability-config`],
    ['POST', `${SESSIONS}/{id}/stop`],
    ['DELETE', `${SESSIONS}/{id}`],
  ] as const;
  const OF_RUNS = [
    ['GET', '/openapi/v1/runs/{id}'],
    ['GET', '/openapi/v1/runs/{id}/stream'],
  ] as const;
  const SESSION_ROWS = [
    ['an unknown id', 'ada', '{unknown}', 404],
    ['a deleted session', 'ada', '{deleted}', 404],
    ['a deleted session of somebody else', 'ben', '{deleted}', 404],
    ['another key of the same user', 'sister', '{session}', 403],
    ['a key of another user', 'ben', '{session}', 403],
    ['the key of an administrator', 'admin', '{session}', 403],
    ['no key', null, '{session}', 401],
    ['an id that is no UUID', 'ada', 'mine', 404],
    ['a UUID with a letter too many', 'ada', `${UNKNOWN_ID}0`, 404],
    ['a way out of the path', 'ada', '..%2f..%2ferrand.db', 404],
    ['a NUL in the id', 'ada', '%00', 404],
    ['an id in braces', 'ada', `%7B${UNKNOWN_ID}%7D`, 404],
  ] as const;
  const RUN_ROWS = [
    ['an unknown id', 'ada', '{unknown}', 404],
    ['an id that is no UUID', 'ada', 'mine', 404],
    ['another key of the same user', 'sister', '{task}', 403],
    ['a key of another user', 'ben', '{task}', 403],
    ['the key of an administrator', 'admin', '{task}', 403],
    ['no key', null, '{task}', 401],
    ['the id of a session', 'ada', '{session}', 404],
    ['a run of a deleted session', 'ada', '{goneTask}', 404],
  ] as const;

  const rows = [
    ...OF_SESSIONS.flatMap((endpoint) => SESSION_ROWS.map((row) => [...endpoint, ...row] as const)),
    ...OF_RUNS.flatMap((endpoint) => RUN_ROWS.map((row) => [...endpoint, ...row] as const)),
  ].map(([method, path, what, who, id, status]) => ({ method, path, what, who, id, status }));

  test.each(rows)(
    '$method $path with $what is $status and changes nothing',
    {
      tags: [
        '§4.5-which-runs',
        '§4.6-stop',
        '§4.6-capability-configuration',
        '§5-rule-3',
        '§7-look-up-403',
        '§7-stop-absent',
        '§7-stop-of-others',
      ],
    },
    async ({ method, path, who, id, status }) => {
      const before = await everything();
      const target = path.replace('{id}', at(id));
      expectRefusal(await call(method, target, who === null ? null : keys[who]), path, status);
      expect(await everything()).toEqual(before);
    },
  );

  test('a look-up of an ordinary run is 404, of either protocol', {
    tags: ['§4.5-which-runs', '§7-look-up-404'],
  }, async () => {
    expectRefusal(await call('GET', at('/openapi/v1/runs/{run}'), keys.ada), '/openapi/v1/runs/', 404);
    const chat = await call('POST', CHAT, keys.ada, turn('[[text=chat]]'));
    const path = `/openapi/v1/runs/${chat.headers.get('x-run-id')}`;
    expectRefusal(await call('GET', path, keys.ada), path, 404);
  });

  test('an id is taken in upper case too', async () => {
    const upper = (path: string) => at(path).replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase());
    expect((await call('GET', upper(`${SESSIONS}/{session}/messages`), keys.ada)).status).toBe(200);
    expect((await call('GET', upper('/openapi/v1/runs/{task}'), keys.ada)).status).toBe(200);
  });
});

describe('a turn in a session', () => {
  const ROWS = [
    ['that is unknown', 'ada', '{unknown}', 404],
    ['that was deleted', 'ada', '{deleted}', 404],
    ['of another key of the same user', 'sister', '{session}', 403],
    ['of another user', 'ben', '{session}', 403],
    ['whose id is no UUID', 'ada', 'mine', 422],
    ['whose id is a number', 'ada', 7, 422],
  ] as const;
  const MODES = [
    [MESSAGES, {}],
    [MESSAGES, { stream: true }],
    [MESSAGES, { background: true, idempotency_key: 'never-taken' }],
    [CHAT, {}],
    [CHAT, { stream: true }],
  ] as const;
  const rows = MODES.flatMap(([path, mode]) =>
    ROWS.map(([what, who, id, status]) => ({ path, mode, what, who, id, status })),
  );

  test.each(rows)(
    '$what is $status before anything begins: $path $mode',
    { tags: ['§1-bound-key', '§5-rule-3', '§7-session-absent', '§7-session-of-others'] },
    async ({ path, mode, who, id, status }) => {
      const before = await everything();
      const calls = model.requests.length;
      const metadata = { session_id: typeof id === 'string' ? at(id) : id };
      expectRefusal(await call('POST', path, keys[who], turn('x', { ...mode, metadata })), path, status);
      expect(await everything()).toEqual(before);
      expect(model.requests.length).toBe(calls);
    },
  );

  test('a background key of a deleted session is 404 and creates no second run', {
    tags: ['§4.6-delete', 'D4'],
  }, async () => {
    const before = await everything();
    const again = turn('[[text=task]]', { background: true, idempotency_key: 'lost' });
    expectRefusal(await call('POST', MESSAGES, keys.ada, again), MESSAGES, 404);
    expect(await everything()).toEqual(before);
  });
});

describe('the list of sessions', () => {
  const list = (query: string, key = keys.listed) => call('GET', `${SESSIONS}${query}`, key);

  test.each([
    'limit=0',
    'limit=501',
    'limit=-1',
    'limit=1.5',
    'limit=1e2',
    'limit=0x10',
    'limit=ten',
    'limit=',
    'limit=%201',
    'limit=99999999999999999999',
    'limit=10&limit=20',
    'offset=-1',
    'offset=1.5',
    'offset=x',
    'offset=9007199254740993',
  ])('%s is 422 and names the field', { tags: ['§8-limit-of-the-list', '§8-offset-of-the-list'] }, async (query) => {
    const got = await list(`?${query}`);
    expectRefusal(got, SESSIONS, 422);
    expect((got.json['error'] as { message: string }).message).toMatch(new RegExp(`^${query.split('=')[0]}: must be`));
  });

  test('has a hundred at first, takes 1 to 500, any offset, and unknown fields', {
    tags: ['§8-limit-of-the-list', '§8-offset-of-the-list'],
  }, async () => {
    for (const [query, limit, offset] of [
      ['', 100, 0],
      ['?limit=1', 1, 0],
      ['?limit=500', 500, 0],
      ['?offset=0', 100, 0],
      ['?offset=1000000', 100, 1_000_000],
      ['?sort=title', 100, 0],
    ] as const)
      expect((await list(query)).json).toMatchObject({ limit, offset });
  });

  test('holds this key’s sessions, the one changed last first, with the count of all', {
    tags: ['§2.6-fields', '§4.6-list'],
  }, async () => {
    const made: string[] = [];
    for (const name of ['one', 'two', 'three']) made.push((await settled(keys.listed, `[[text=${name}]]`)).session);
    await call('POST', MESSAGES, keys.listed, turn('again', { metadata: { session_id: made[0] } }));
    const ids = ({ json }: Got) => (json['items'] as { session_id: string }[]).map(({ session_id }) => session_id);
    const whole = await list('');
    expect(ids(whole)).toEqual([made[0], made[2], made[1]]);
    expect(whole.json).toMatchObject({ total: 3, limit: 100, offset: 0 });
    expect((whole.json['items'] as object[])[0]).toEqual({
      session_id: made[0],
      title: '[[text=one]]',
      status: 'completed',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as string,
      updated_at: expect.stringMatching(/Z$/) as string,
    });
    const second = await list('?limit=1&offset=1');
    expect([ids(second), second.json['total']]).toEqual([[made[2]], 3]);
    expect(ids(await list('?offset=3'))).toEqual([]);
    expect(ids(await list('', keys.ben))).toEqual([]);
    await call('DELETE', `${SESSIONS}/${made[2]}`, keys.listed);
    const left = await list('');
    expect([ids(left), left.json['total']]).toEqual([[made[0], made[1]], 2]);
  });
});

describe('methods and paths', () => {
  const ALLOWED = [
    ['/openapi/v1/auth/token', 'POST'],
    [MESSAGES, 'POST'],
    [CHAT, 'POST'],
    ['/openapi/v1/models', 'GET, HEAD'],
    [SESSIONS, 'GET, HEAD'],
    [`${SESSIONS}/{session}`, 'DELETE'],
    [`${SESSIONS}/{session}/messages`, 'GET, HEAD'],
    [`${SESSIONS}/{session}/capability-config`, 'GET, HEAD'],
    [`${SESSIONS}/{session}/stop`, 'POST'],
    ['/openapi/v1/runs/{task}', 'GET, HEAD'],
    ['/openapi/v1/runs/{task}/stream', 'GET'],
    ['/api/v1/status', 'GET, HEAD'],
  ] as const;

  test.each(ALLOWED)('%s answers %s and refuses the rest with 405 and Allow', async (path, allow) => {
    const before = await everything();
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      if (allow.split(', ').includes(method)) continue;
      const got = await call(method, at(path), null);
      expect([method, got.status, got.headers.get('allow')]).toEqual([method, 405, allow]);
      if (method !== 'HEAD') expectRefusal(got, path, 405);
    }
    expect(await everything()).toEqual(before);
  });

  test.each(ALLOWED.filter(([, allow]) => allow === 'GET, HEAD'))(
    'HEAD %s has the headers of GET and no body',
    { tags: ['§4.6-capability-configuration', 'A7'] },
    async (path) => {
      const key = path.startsWith('/api/') ? keys.admin : keys.ada;
      const [get, head] = [await call('GET', at(path), key), await call('HEAD', at(path), key)];
      expect([get.status, head.status, head.text]).toEqual([200, 200, '']);
      // The client closes its connection after a HEAD; the status contains the time.
      const own = new Set(['date', 'x-request-id', 'connection', 'keep-alive']);
      if (path === '/api/v1/status') own.add('content-length');
      const sharedHeaders = (got: Got) => [...got.headers].filter(([name]) => !own.has(name));
      expect(sharedHeaders(head)).toEqual(sharedHeaders(get));
    },
  );

  test.each([
    '/openapi/v1/nothing',
    '/openapi/v1/chat/nothing',
    '/openapi/v2/messages',
    `${SESSIONS}/${UNKNOWN_ID}/nothing`,
    `${SESSIONS}/`,
    '/OpenAPI/v1/messages',
    '/api/v1/nothing',
    '/nothing',
  ])(
    '%s is 404 in the shape of its prefix, with or without a key',
    { tags: ['§7-shapes', 'A2', 'A10'] },
    async (path) => {
      for (const key of [null, keys.ada])
        for (const method of ['GET', 'POST', 'DELETE']) expectRefusal(await call(method, path, key), path, 404);
    },
  );
});

describe('a background submission', () => {
  const background = (more: object) => turn('[[text=ok]]', { background: true, ...more });
  const payload = (length: number) => 'A'.repeat(length);
  const hedgehog = '\u{1F994}';

  test.each([
    ['a payload of 8193 characters', { background_payload: payload(8_193) }, 'background_payload'],
    ['the next payload that is whole Base64', { background_payload: payload(8_196) }, 'background_payload'],
    ['a payload without padding', { background_payload: 'aGk' }, 'background_payload'],
    ['a payload with stray bits', { background_payload: 'aGl=' }, 'background_payload'],
    ['a payload with a line break', { background_payload: 'aGk=\n' }, 'background_payload'],
    ['a payload with a blank in front', { background_payload: ' aGk=' }, 'background_payload'],
    ['a payload in the URL alphabet', { background_payload: '-_8=' }, 'background_payload'],
    ['a payload with padding in the middle', { background_payload: 'aGk=aGk=' }, 'background_payload'],
    ['a payload that is a number', { background_payload: 12 }, 'background_payload'],
    ['a stream', { stream: true }, 'stream'],
    ['no key', { idempotency_key: undefined }, 'idempotency_key'],
    ['a key that is null', { idempotency_key: null }, 'idempotency_key'],
    ['an empty key', { idempotency_key: '' }, 'idempotency_key'],
    ['a key that is a number', { idempotency_key: 7 }, 'idempotency_key'],
    ['a key of 129 characters', { idempotency_key: 'k'.repeat(129) }, 'idempotency_key'],
    ['a key of 129 characters beyond the basic plane', { idempotency_key: hedgehog.repeat(129) }, 'idempotency_key'],
    ['a key with a line break', { idempotency_key: 'a\nb' }, 'idempotency_key'],
    ['a key with a tab', { idempotency_key: 'a\tb' }, 'idempotency_key'],
    ['a key with a NUL', { idempotency_key: 'a\0' }, 'idempotency_key'],
    ['a key with DEL', { idempotency_key: 'a\u007f' }, 'idempotency_key'],
    ['a key with a control character above ASCII', { idempotency_key: 'a\u0085' }, 'idempotency_key'],
    ['a key with half a character', { idempotency_key: 'a\ud83e' }, 'idempotency_key'],
    ['background in words', { background: 'true' }, 'background'],
    ['background as a number', { background: 1 }, 'background'],
    ['another output format', { output_format: { type: 'json_object' } }, 'output_format.type'],
    ['an output format without a schema', { output_format: { type: 'json_schema' } }, 'output_format.schema'],
  ])(
    'with %s is 422, names the field and makes no run',
    { tags: ['§4.3-rule-4', '§4.4-rule-2', '§7-fields', '§8-payload', '§8-idempotency-key'] },
    async (_what, more, field) => {
      const before = await everything();
      const got = await call('POST', MESSAGES, keys.ada, background({ idempotency_key: 'refused', ...more }));
      expectRefusal(got, MESSAGES, 422);
      expect((got.json['error'] as { message: string }).message).toMatch(new RegExp(`^${field.replace('.', '\\.')}: `));
      expect(await everything()).toEqual(before);
    },
  );

  test.each([
    ['a payload of 8192 characters', { background_payload: payload(8_192) }],
    ['an empty payload', { background_payload: '' }],
    ['a payload with every sign', { background_payload: '+/+/+w==' }],
    ['a key of 128 characters', { idempotency_key: 'k'.repeat(128) }],
    ['a key of 128 characters beyond the basic plane', { idempotency_key: hedgehog.repeat(128) }],
    ['a key with blanks and quotes', { idempotency_key: ` a"b'c\\d; -- ` }],
    ['a key that a query would match', { idempotency_key: '%' }],
  ])(
    'with %s is taken, and all comes back as it was sent',
    { tags: ['§8-payload', '§8-idempotency-key'] },
    async (what, more) => {
      const body = background({ idempotency_key: what, ...more });
      const accepted = await call('POST', MESSAGES, keys.ada, body);
      expect(accepted.status, accepted.text).toBe(202);
      const { run_id } = resultsOf(accepted);
      const done = await poll(run_id);
      const sent = (more as { background_payload?: string }).background_payload ?? null;
      expect(done.json).toMatchObject({
        content: [{ type: 'text', text: 'ok' }],
        background_results: { status: 'completed', background_payload: sent, retry_after_ms: null },
      });
      const again = await call('POST', MESSAGES, keys.ada, body);
      expect([again.status, resultsOf(again).run_id]).toEqual([202, run_id]);
    },
  );

  test('keys are each key’s own: the same words from another key are another run', {
    tags: ['§4.3-rule-3'],
  }, async () => {
    const body = background({ idempotency_key: 'shared words' });
    const holders = [keys.ada, keys.sister, keys.ben];
    const runs = await Promise.all(
      holders.map(async (key) => resultsOf(await call('POST', MESSAGES, key, body)).run_id),
    );
    await Promise.all(holders.map((key, i) => poll(runs[i] ?? '', key)));
    expect(new Set(runs).size).toBe(3);
  });

  test('a key with a letter of another case is another key', async () => {
    const [one, other] = [
      await call('POST', MESSAGES, keys.ada, background({ idempotency_key: 'Case' })),
      await call('POST', MESSAGES, keys.ada, background({ idempotency_key: 'case' })),
    ];
    const runs = [resultsOf(one).run_id, resultsOf(other).run_id];
    expect(new Set(runs).size).toBe(2);
    await Promise.all(runs.map((run) => poll(run)));
  });
});

describe('a stop', () => {
  const stop = (id: string) => call('POST', `${SESSIONS}/${id}/stop`, keys.sister);

  test('ends a running background run as canceled, is already_stopped afterwards, and the session continues', {
    tags: ['§3.1-states-to-poll', '§3.3-already-stopped', '§4.5-waiting', '§4.6-stop'],
  }, async () => {
    const slow = turn('[[deltas=4]] [[hang=mid-stream after=2]]', {
      background: true,
      idempotency_key: 'to be stopped',
    });
    const accepted = await call('POST', MESSAGES, keys.sister, slow);
    const [id, run] = [accepted.headers.get('x-session-id') ?? '', resultsOf(accepted).run_id];
    const inProgress = await waitFor(async () => {
      const got = await call('GET', `/openapi/v1/runs/${run}`, keys.sister);
      return resultsOf(got).status === 'running' ? got : false;
    });
    expect([inProgress.status, inProgress.headers.get('retry-after')]).toEqual([200, '2']);
    expect(inProgress.json).toMatchObject({
      content: [],
      stop_reason: null,
      usage: { input_tokens: 0, output_tokens: 0 },
      background_results: { retry_after_ms: 2_000, result_url: `/openapi/v1/runs/${run}`, error: null },
    });
    const first = await stopped(async () => {
      const { status, json } = await stop(id);
      expect(status).toBe(200);
      return json as Record<string, unknown> & StopReply;
    });
    expect(first).toEqual({
      session_id: id,
      status: 'stopped',
      stop_state: 'stopped',
      termination_reason: 'user_requested_stop',
      cancelled_runs: 1,
      expired_user_input_requests: 0,
      executor_cancelled: true,
    });
    const found = await poll(run, keys.sister);
    expect(found.json).toMatchObject({ content: [], stop_reason: null, background_results: { status: 'canceled' } });
    expect(resultsOf(await call('POST', MESSAGES, keys.sister, slow))).toMatchObject({
      run_id: run,
      status: 'canceled',
    });
    const events = await everything();
    expect((await stop(id)).json).toMatchObject({
      status: 'stopped',
      stop_state: 'already_stopped',
      cancelled_runs: 0,
    });
    expect(await everything()).toEqual(events);
    const next = await call('POST', MESSAGES, keys.sister, turn('[[text=on]]', { metadata: { session_id: id } }));
    expect([next.status, next.headers.get('x-session-id')]).toEqual([200, id]);
  });

  test.each([
    ['[[text=done]]', 'completed'],
    ['[[fail=400]]', 'failed'],
  ])(
    'of a session that ended with %s is not_running and leaves it %s',
    { tags: ['§3.3-not-running'] },
    async (text, status) => {
      const { session } = await settled(keys.sister, text);
      const before = await everything();
      const got = await stop(session);
      expect([got.status, got.json['status'], got.json['stop_state']]).toEqual([200, status, 'not_running']);
      expect(await everything()).toEqual(before);
    },
  );
});

test('a deleted session starts no further turn and is reported as scheduled for clean-up', {
  tags: ['§2.12-fields', '§4.6-delete'],
}, async () => {
  const { session } = await settled(keys.sister, '[[text=short]]');
  const got = await call('DELETE', `${SESSIONS}/${session}`, keys.sister);
  expect([got.status, got.json]).toEqual([200, { id: session, cleanup: { scheduled: true } }]);
  for (const path of [MESSAGES, CHAT])
    expectRefusal(await call('POST', path, keys.sister, turn('x', { metadata: { session_id: session } })), path, 404);
  expectRefusal(await call('DELETE', `${SESSIONS}/${session}`, keys.sister), SESSIONS, 404);
});

test('a revoked key is 401 and a disabled user 403 at every endpoint, before any stream', {
  tags: ['§5-rule-5', '§7-no-key'],
}, async () => {
  await daemon.admin('POST', '/api/v1/users', { username: 'dora' });
  const made = (await daemon.admin('POST', '/api/v1/keys', { user: 'dora', scope: 'global' })) as {
    id: string;
    key: string;
  };
  const other = await keyFor('dora');
  const { session } = await settled(other, '[[text=mine]]');
  const ENDPOINTS = [
    ['POST', MESSAGES, turn('x', { stream: true })],
    ['POST', MESSAGES, turn('x', { background: true, idempotency_key: 'k' })],
    ['POST', CHAT, turn('x', { stream: true })],
    ['GET', '/openapi/v1/models', undefined],
    ['GET', SESSIONS, undefined],
    ['GET', `${SESSIONS}/${session}/messages`, undefined],
    ['GET', `${SESSIONS}/${session}/capability-config`, undefined],
    ['POST', `${SESSIONS}/${session}/stop`, undefined],
    ['DELETE', `${SESSIONS}/${session}`, undefined],
    ['GET', `/openapi/v1/runs/${UNKNOWN_ID}`, undefined],
    ['GET', `/openapi/v1/runs/${UNKNOWN_ID}/stream`, undefined],
  ] as const;
  await daemon.admin('DELETE', `/api/v1/keys/${made.id}`);
  await daemon.admin('PATCH', '/api/v1/users/dora', { disabled: true });
  const before = await everything();
  for (const [method, path, body] of ENDPOINTS) {
    expectRefusal(await call(method, path, made.key, body), path, 401);
    expectRefusal(await call(method, path, other, body), path, 403);
  }
  expect(await everything()).toEqual(before);
});
