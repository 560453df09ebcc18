// Refusals leave nothing behind; ownership of sessions; the order of a busy session; what a repeated request finds.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { contentsOf, rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { openTurn, readTurn, takeTurn, type TurnProtocol, type TurnRequest } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const UNKNOWN_ID = '0190f6a0-0000-7000-8000-000000000000';
const PROTOCOLS = ['messages', 'chat'] as const;
const PATHS: Readonly<Record<TurnProtocol, string>> = {
  messages: '/openapi/v1/messages',
  chat: '/openapi/v1/chat/completions',
};

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'max_upload_size_mb: 1\n',
  });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script(replyFromDirectives));

const turn = (request: TurnRequest, apiKey = daemon.apiKey) => takeTurn({ url: daemon.url, apiKey }, request);

async function keyFor(user: string, scope = 'conversation'): Promise<string> {
  return ((await daemon.admin('POST', '/api/v1/keys', { user, scope })) as { key: string }).key;
}

describe('refused input', () => {
  interface Bad {
    readonly name: string;
    /** The whole body; a text is sent unchanged. */
    readonly body: object | string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly status: number;
    readonly message?: RegExp;
    /** `param` of the chat shape. */
    readonly field?: string;
    /** Where the protocols differ. */
    readonly only?: TurnProtocol;
  }

  const fine = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
  const withContent = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] });
  const source = (data: string, type = 'base64', mediaType = 'text/plain') => ({ type, media_type: mediaType, data });
  const file = (data: string, type?: string) =>
    withContent([{ type: 'file', file_name: 'a.txt', source: source(data, type) }]);
  const good = { type: 'file', file_name: 'kept-nowhere.txt', source: source('aGVsbG8=') };
  const deep = `${'['.repeat(70)}${']'.repeat(70)}`;
  const big = Buffer.alloc(1024 * 1024 + 1, 7).toString('base64');

  const table: readonly Bad[] = [
    { name: 'nothing', body: '', status: 400 },
    { name: 'no JSON', body: '{"model": "m", ', status: 400 },
    { name: 'no UTF-8', body: '\u0000\u0001', status: 400 },
    { name: 'another content type', body: fine, headers: { 'content-type': 'text/plain' }, status: 415 },
    { name: 'a form', body: 'model=m', headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 415 },
    { name: 'an array', body: [], status: 422, field: 'body' },
    {
      name: 'nesting without end',
      body: `{"model":"m","messages":${deep}}`,
      status: 422,
      field: `messages${'[0]'.repeat(63)}`,
    },
    { name: 'a body beyond the limit', body: withContent('x'.repeat(6 * 1024 * 1024)), status: 413 },
    { name: 'no model', body: { messages: fine.messages }, status: 422, field: 'model' },
    { name: 'a model that is a number', body: { ...fine, model: 7 }, status: 422, field: 'model' },
    { name: 'an empty model', body: { ...fine, model: '' }, status: 422, field: 'model' },
    { name: 'a model name too long', body: { ...fine, model: 'm'.repeat(257) }, status: 422, field: 'model' },
    { name: 'no messages', body: { model: 'm' }, status: 422, field: 'messages' },
    { name: 'messages that are none', body: { model: 'm', messages: [] }, status: 422, field: 'messages' },
    { name: 'messages in words', body: { model: 'm', messages: 'hello' }, status: 422, field: 'messages' },
    { name: 'a message that is null', body: { model: 'm', messages: [null] }, status: 422, field: 'messages[0]' },
    {
      name: 'a message without a role',
      body: { model: 'm', messages: [{ content: 'x' }] },
      status: 422,
      field: 'messages[0].role',
    },
    {
      name: 'no user message',
      body: { model: 'm', messages: [{ role: 'assistant', content: 'x' }] },
      status: 422,
      field: 'messages',
    },
    { name: 'no content', body: withContent(undefined), status: 422, field: 'messages[0].content' },
    { name: 'empty content', body: withContent(''), status: 422, field: 'messages[0].content' },
    { name: 'no blocks', body: withContent([]), status: 422, field: 'messages[0].content' },
    {
      name: 'empty blocks only',
      body: withContent([{ type: 'text', text: '' }]),
      status: 422,
      field: 'messages[0].content',
    },
    {
      name: 'a block of an unknown type',
      body: withContent([{ type: 'video', url: 'x' }]),
      status: 422,
      field: 'messages[0].content[0].type',
    },
    {
      name: 'a text block without text',
      body: withContent([{ type: 'text' }]),
      status: 422,
      field: 'messages[0].content[0].text',
    },
    { name: 'a NUL', body: withContent('a\u0000b'), status: 422, field: 'messages[0].content' },
    {
      name: 'a lone surrogate',
      body: '{"model":"m","messages":[{"role":"user","content":"a\\ud800b"}]}',
      status: 422,
      field: 'messages[0].content',
    },
    {
      name: 'too many blocks',
      body: withContent(Array.from({ length: 1_001 }, () => ({ type: 'text', text: 'x' }))),
      status: 422,
      field: 'messages[0].content',
    },
    {
      name: 'too many attachments',
      body: withContent(Array.from({ length: 101 }, () => good)),
      status: 422,
      field: 'messages[0].content',
    },
    {
      name: 'too many messages',
      body: { model: 'm', messages: Array.from({ length: 10_001 }, () => ({ role: 'user', content: 'x' })) },
      status: 422,
      field: 'messages',
    },
    { name: 'stream in words', body: { ...fine, stream: 'true' }, status: 422, field: 'stream' },
    { name: 'base64 that is none', body: file('a$b='), status: 422, field: 'messages[0].content[0].source.data' },
    { name: 'base64 without padding', body: file('aGVsbG8'), status: 422, field: 'messages[0].content[0].source.data' },
    { name: 'an empty file', body: file(''), status: 422, field: 'messages[0].content[0].source.data' },
    {
      name: 'a file at an address',
      body: file('https://example.org/a.txt', 'url'),
      status: 422,
      field: 'messages[0].content[0].source.data',
    },
    {
      name: 'a data URL without base64',
      body: file('data:text/plain,hello'),
      status: 422,
      field: 'messages[0].content[0].source.data',
    },
    { name: 'a file too large', body: file(big), status: 413, field: 'messages[0].content[0].source.data' },
    { name: 'an attachment that is not there', body: file(`attachments/${UNKNOWN_ID}/a.txt`), status: 404 },
    { name: 'an attachment above all others', body: file('attachments/../../errand.db'), status: 404 },
    {
      name: 'a good file beside a missing one',
      body: withContent([{ ...good, source: source(`attachments/${UNKNOWN_ID}/a`) }, good]),
      status: 404,
    },
    {
      name: 'a good file beside a bad block',
      body: withContent([good, { type: 'text', text: 5 }]),
      status: 422,
      field: 'messages[0].content[1].text',
    },
    { name: 'metadata in words', body: { ...fine, metadata: 'x' }, status: 422, field: 'metadata' },
    {
      name: 'a session id that is none',
      body: { ...fine, metadata: { session_id: 'mine' } },
      status: 422,
      field: 'metadata.session_id',
    },
    { name: 'an unknown session', body: { ...fine, metadata: { session_id: UNKNOWN_ID } }, status: 404 },
    {
      name: 'an unknown session with a good file',
      body: { ...withContent([good]), metadata: { session_id: UNKNOWN_ID } },
      status: 404,
    },
    { name: 'no key', body: fine, headers: { authorization: '' }, status: 401 },
    { name: 'a key of nobody', body: fine, headers: { authorization: 'Bearer errand_12345678_x' }, status: 401 },
    { name: 'two keys', body: fine, headers: { 'x-api-key': 'errand_12345678_x' }, status: 401 },
    { name: 'another scheme', body: fine, headers: { authorization: 'Basic YTpi' }, status: 401 },
    {
      name: 'an idempotency key too long',
      only: 'messages',
      body: { ...fine, idempotency_key: 'k'.repeat(129) },
      status: 422,
    },
    {
      name: 'an idempotency key with a line break',
      only: 'messages',
      body: { ...fine, idempotency_key: 'a\nb' },
      status: 422,
    },
    { name: 'an empty idempotency key', only: 'messages', body: { ...fine, idempotency_key: '' }, status: 422 },
    { name: 'max_tokens in words', only: 'messages', body: { ...fine, max_tokens: '100' }, status: 422 },
    { name: 'a payload that is not base64', only: 'messages', body: { ...fine, background_payload: '$' }, status: 422 },
    {
      name: 'a schema that refers to another place',
      only: 'messages',
      body: { ...fine, output_format: { type: 'json_schema', schema: { $ref: 'https://example.org/a.json' } } },
      status: 422,
    },
    {
      name: 'a stream option that is no boolean',
      only: 'chat',
      body: { ...fine, stream: true, stream_options: { include_usage: 1 } },
      status: 422,
      field: 'stream_options.include_usage',
    },
    {
      name: 'a native file by its id',
      only: 'chat',
      body: withContent([{ type: 'file', file: { file_id: 'file-1' } }]),
      status: 422,
      field: 'messages[0].content[0].file.file_id',
    },
  ];

  const TYPES: Readonly<Record<number, string>> = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    404: 'not_found_error',
    413: 'invalid_request_error',
    415: 'invalid_request_error',
    422: 'invalid_request_error',
  };

  async function send(protocol: TurnProtocol, bad: Bad): Promise<Response> {
    const headers = { authorization: `Bearer ${daemon.apiKey}`, 'content-type': 'application/json', ...bad.headers };
    const kept = Object.entries(headers).filter(([, value]) => value !== '');
    return fetch(daemon.url + PATHS[protocol], {
      method: 'POST',
      headers: Object.fromEntries(kept),
      body: typeof bad.body === 'string' ? bad.body : JSON.stringify(bad.body),
    });
  }

  test.each(PROTOCOLS)(
    '%s: every refusal has its status and shape, and leaves no row and no file',
    { tags: ['§4.3-parameters', '§7-no-key', '§7-fields', '§7-image-size', 'A1-no-trace', 'C1'] },
    async (protocol) => {
      await turn({ content: '[[text=so that there is something]]' });
      const before = await contentsOf(daemon);
      const calls = model.requests.length;
      for (const bad of table.filter(({ only = protocol }) => only === protocol)) {
        const response = await send(protocol, bad);
        const text = await response.text();
        const body = JSON.parse(text) as {
          type?: string;
          error: { type: string; message: string; param?: string | null };
        };
        expect(response.status, `${bad.name}: ${text}`).toBe(bad.status);
        expect(body.error.type, bad.name).toBe(TYPES[bad.status]);
        expect(body.error.message.length, bad.name).toBeGreaterThan(5);
        expect(Object.keys(body), bad.name).toEqual(protocol === 'chat' ? ['error'] : ['type', 'error']);
        if (protocol === 'chat') expect(body.error.param, bad.name).toBe(bad.field ?? null);
        if (bad.field !== undefined) expect(body.error.message, bad.name).toContain(bad.field);
        expect(response.headers.has('x-run-id'), bad.name).toBe(false);
        expect(await contentsOf(daemon), bad.name).toEqual(before);
      }
      expect(model.requests.length).toBe(calls);
    },
  );

  test('other methods, other paths and bodies that break off leave nothing either', {
    tags: ['A1-no-trace'],
  }, async () => {
    const before = await contentsOf(daemon);
    const authorization = `Bearer ${daemon.apiKey}`;
    for (const path of Object.values(PATHS)) {
      const got = await fetch(daemon.url + path, { headers: { authorization } });
      expect(got.status).toBe(405);
      expect(got.headers.get('allow')).toBe('POST');
      const slash = await fetch(`${daemon.url}${path}/`, { method: 'POST', headers: { authorization }, body: '{}' });
      expect(slash.status).toBe(404);
      const leave = new AbortController();
      const half = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from('{"model":"m","messages":[{"role":"user","content":"x')),
      });
      const sent = fetch(daemon.url + path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: half,
        signal: leave.signal,
        duplex: 'half',
      });
      setTimeout(() => leave.abort(), 50);
      await expect(sent).rejects.toThrow(/abort/i);
    }
    // A request that is answered later than those shows that they are over.
    expect((await turn({ content: 'x', body: { model: 7 } })).status).toBe(422);
    expect(await contentsOf(daemon)).toEqual(before);
  });
});

describe('whose a session is', () => {
  test("another key, another user and a stranger's guess are refused on both endpoints, and change nothing", {
    tags: ['§1-bound-key'],
  }, async () => {
    await daemon.admin('POST', '/api/v1/users', { username: 'other' });
    const [sameUser, otherUser] = [await keyFor('admin'), await keyFor('other')];
    const { sessionId } = await turn({ content: '[[text=mine]]' });
    const history = (apiKey: string, id = sessionId) =>
      fetch(`${daemon.url}/openapi/v1/sessions/${id}/messages`, { headers: { 'x-api-key': apiKey } });
    const before = await contentsOf(daemon);
    for (const protocol of PROTOCOLS) {
      for (const stream of [false, true]) {
        for (const apiKey of [sameUser, otherUser]) {
          expect(await turn({ content: 'x', protocol, stream, sessionId }, apiKey)).toMatchObject({
            status: 403,
            error: { type: 'permission_error' },
          });
        }
        const unknown = await turn({ content: 'x', protocol, stream, sessionId: UNKNOWN_ID });
        expect(unknown).toMatchObject({ status: 404, error: { type: 'not_found_error' } });
      }
    }
    expect((await history(sameUser)).status).toBe(403);
    expect((await history(otherUser)).status).toBe(403);
    expect((await history(daemon.apiKey, UNKNOWN_ID)).status).toBe(404);
    expect((await history(daemon.apiKey, 'mine')).status).toBe(404);
    expect((await history(daemon.apiKey)).status).toBe(200);
    expect((await history(daemon.apiKey, sessionId?.toUpperCase() ?? '')).status).toBe(200);
    expect(await contentsOf(daemon)).toEqual(before);
  });

  test("another user's attachment is not found", { tags: ['§5-rule-3', 'C4'] }, async () => {
    await daemon.admin('POST', '/api/v1/users', { username: 'thief' });
    const upload = {
      type: 'file',
      file_name: 'secret.txt',
      source: { type: 'base64', media_type: 'text/plain', data: 'c2VjcmV0' },
    };
    const { sessionId } = await turn({ content: [upload] });
    const response = await fetch(`${daemon.url}/openapi/v1/sessions/${sessionId}/messages`, {
      headers: { 'x-api-key': daemon.apiKey },
    });
    const { messages } = (await response.json()) as { messages: { attachments: { path: string }[] }[] };
    const path = messages[0]?.attachments[0]?.path ?? '';
    expect(path).toMatch(/^attachments\/[0-9a-f-]{36}\/secret\.txt$/);
    const again = { type: 'file', source: { type: 'attachment', data: path } };
    const before = await contentsOf(daemon);
    expect((await turn({ content: [again] }, await keyFor('thief'))).status).toBe(404);
    expect(await contentsOf(daemon)).toEqual(before);
    // Its owner may use it again, and its bytes are kept once.
    expect((await turn({ content: [again] })).status).toBe(200);
    expect((await contentsOf(daemon))['blobs']).toBe(before['blobs']);
  });
});

describe('a busy session', () => {
  test('turns wait for each other and are taken in the order in which they came, over both protocols', {
    tags: ['C5'],
  }, async () => {
    const { sessionId } = await turn({ content: 'opening [[text=opened]]' });
    const from = model.requests.length;
    const accepted = Promise.withResolvers<void>();
    model.script((question) => ({ ...replyFromDirectives(question), hang: 'before-headers', until: accepted.promise }));
    const started: Promise<Awaited<ReturnType<typeof turn>>>[] = [];
    const sessionRuns = () =>
      rowsOf<{ id: string; status: string }>(
        daemon,
        'SELECT r.id, r.status FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE s.id = ? ORDER BY r.seq',
        sessionId ?? '',
      );
    for (const [at, name] of ['one', 'two', 'three'].entries()) {
      const protocol = at === 1 ? 'chat' : 'messages';
      started.push(turn({ content: `${name} [[text=${name}]]`, sessionId, protocol, stream: at === 2 }));
      // The order of acceptance is what counts, so each is accepted before the next is sent.
      await waitFor(() => sessionRuns().length === at + 2);
    }
    expect(sessionRuns().filter(({ status }) => status === 'queued').length).toBeGreaterThanOrEqual(2);
    accepted.resolve();
    const answers = await Promise.all(started);
    expect(answers.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    expect(
      sessionRuns()
        .map(({ id }) => id)
        .slice(1),
    ).toEqual(answers.map(({ runId }) => runId));
    const calls = model.requests.slice(from);
    expect(calls.map(({ body }) => JSON.stringify(body.messages?.at(-1)).match(/one|two|three/)?.[0])).toEqual([
      'one',
      'two',
      'three',
    ]);
    for (const [at, call] of calls.entries()) {
      expect(call.at).toBeGreaterThanOrEqual(at === 0 ? 0 : (calls[at - 1]?.endedAt ?? Infinity));
      expect(call.body.messages?.filter(({ role }) => role === 'user')).toHaveLength(at + 2);
    }
  });

  test('three turns at once each get their own answer, and no two ran at the same time', async () => {
    const { sessionId } = await turn({ content: 'opening' });
    const from = model.requests.length;
    const answers = await Promise.all(
      ['red', 'green', 'blue'].map((name) => turn({ content: `[[first=100]] [[text=${name}]]`, sessionId })),
    );
    expect(answers.map(({ text }) => text)).toEqual(['red', 'green', 'blue']);
    const calls = model.requests.slice(from);
    expect(calls).toHaveLength(3);
    for (const [at, call] of calls.entries()) {
      if (at > 0) expect(call.at).toBeGreaterThanOrEqual(calls[at - 1]?.endedAt ?? Infinity);
    }
    const rows = rowsOf<{ id: string }>(
      daemon,
      `SELECT r.id FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE s.id = ? ORDER BY r.started_at, r.seq`,
      sessionId ?? '',
    );
    const bySeq = rowsOf<{ id: string }>(
      daemon,
      `SELECT r.id FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE s.id = ? ORDER BY r.seq`,
      sessionId ?? '',
    );
    expect(rows).toEqual(bySeq);
  });

  test('a failed turn does not hold up the next one', { tags: ['E1-continues'] }, async () => {
    const { sessionId } = await turn({ content: 'opening' });
    const failing = turn({ content: '[[fail=400]]', sessionId });
    const next = turn({ content: '[[text=unharmed]]', sessionId });
    expect((await Promise.all([failing, next])).map(({ status }) => status)).toEqual([500, 200]);
  });
});

describe('a repeated request', () => {
  const idempotent = (key: string, content: string, more: Partial<TurnRequest> = {}): TurnRequest => ({
    content,
    ...more,
    body: { idempotency_key: key },
  });

  test('with the same key finds the same run: its answer, its session, and no second model call', {
    tags: ['§4.3-rule-2', 'C7'],
  }, async () => {
    const request = idempotent('first', '[[text=once]] [[tools=1]]');
    const first = await turn(request);
    const before = await contentsOf(daemon);
    const calls = model.requests.length;
    const second = await turn(request);
    expect(second).toMatchObject({ status: 200, text: 'once', runId: first.runId, sessionId: first.sessionId });
    expect(await contentsOf(daemon)).toEqual(before);
    expect(model.requests.length).toBe(calls);
  });

  test('as a stream it hears the run from its first event, live and afterwards', { tags: ['C7'] }, async () => {
    const request = idempotent('streamed', '[[text=abcdefgh]] [[deltas=8 every=80]]', { stream: true });
    const first = openTurn({ url: daemon.url, apiKey: daemon.apiKey }, request);
    const second = openTurn({ url: daemon.url, apiKey: daemon.apiKey }, request);
    const live = await Promise.all([readTurn(await first), readTurn(await second)]);
    const late = await turn(request);
    expect(new Set([...live, late].map(({ runId }) => runId)).size).toBe(1);
    expect(live.map(({ text }) => text)).toEqual(['abcdefgh', 'abcdefgh']);
    expect(late.events[0]?.event).toBe('message_start');
    // Without pings, which fill silence.
    for (const heard of live) expect(heard.events.filter(({ event }) => event !== 'ping')).toEqual(late.events);
    // A stream can be repeated without one: the run is the same.
    expect(await turn({ ...request, stream: false })).toMatchObject({ text: 'abcdefgh', runId: late.runId });
  });

  test('ten at once make one run', async () => {
    const request = idempotent('ten', '[[first=200]] [[text=one for all]]');
    const before = await contentsOf(daemon);
    const answers = await Promise.all(Array.from({ length: 10 }, () => turn(request)));
    expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1);
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['one for all']));
    expect((await contentsOf(daemon))['runs']).toBe((before['runs'] ?? 0) + 1);
  });

  test('keys are distinguished by user key, by session, and from the key that opened it', {
    tags: ['§4.3-rule-2'],
  }, async () => {
    const opened = await turn(idempotent('shared', '[[text=opened]]'));
    const otherKey = await turn(idempotent('shared', '[[text=other]]'), await keyFor('admin'));
    expect(otherKey.runId).not.toBe(opened.runId);
    const { sessionId } = opened;
    const continued = await turn(idempotent('shared', '[[text=continued]]', { sessionId }));
    expect(continued.text).toBe('continued');
    expect(continued.runId).not.toBe(opened.runId);
    expect((await turn(idempotent('shared', 'x', { sessionId }))).runId).toBe(continued.runId);
    expect((await turn(idempotent('shared', 'x'))).runId).toBe(opened.runId);
  });

  test('a failed run is found again as it failed', async () => {
    const request = idempotent('failed', '[[fail=400]]');
    const [first, second] = [await turn(request), await turn(request)];
    expect(second).toMatchObject({ status: 500, runId: first.runId, error: first.error });
  });

  test('without a key every request is a turn of its own', async () => {
    const [first, second] = [await turn({ content: 'same' }), await turn({ content: 'same' })];
    expect(first.sessionId).not.toBe(second.sessionId);
  });
});

test('a request that waits longer than it may gets 504 and can collect its answer later', {
  tags: ['§7-wait-time-out', 'C8'],
}, async () => {
  const slow = await startDaemonProcess({ modelServerUrl: model.url, errandYaml: 'wait_timeout_seconds: 1\n' });
  try {
    const target = { url: slow.url, apiKey: slow.apiKey };
    for (const protocol of PROTOCOLS) {
      const replied = Promise.withResolvers<void>();
      model.script({ text: 'late', hang: 'before-headers', until: replied.promise });
      const request: TurnRequest = { content: 'Take your time.', protocol, body: { idempotency_key: 'late' } };
      const first = await takeTurn(target, request);
      replied.resolve();
      expect(first).toMatchObject({ status: 504, error: { type: 'timeout_error' } });
      expect(first.headers.get('retry-after')).toBe('5');
      if (protocol === 'chat') continue;
      const collected = await waitFor(async () => {
        const answer = await takeTurn(target, request);
        return answer.status === 200 && answer;
      });
      expect(collected).toMatchObject({ text: 'late', runId: first.runId });
    }
  } finally {
    await slow.close();
  }
});
