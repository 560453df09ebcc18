// Forks of the real daemon: by its interface and its command, with the official client, with files, and after a crash.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import type { ForkWire, SessionWire } from '../../../src/wire/sessions/session.ts';

let model: ModelServer;
let daemon: DaemonProcess;
let client: OpenAI;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon?.close();
  await model?.close();
});
/** A prompt of lines `NAME=TEXT` writes these files; the answer is the prompt in capitals. */
beforeEach(() => {
  client = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
  model.script(({ userText: prompt, step }) => {
    const files = [...prompt.matchAll(/^(\w+)=(\w+)$/gm)];
    if (step > 0 || files.length === 0) return { text: prompt.toUpperCase() };
    return {
      tools: files.map(([, path, content]) => ({ name: 'write_file', input: { path: `/${path}`, content: content! } })),
    };
  });
});

async function call(method: string, path: string, body?: object, key = daemon.apiKey) {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
  const response = await fetch(`${daemon.url}/openapi/v1${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function fork(sessionId: string, body?: object): Promise<ForkWire> {
  const reply = await call('POST', `/sessions/${sessionId}/fork`, body);
  expect(reply.status).toBe(201);
  return reply.body as unknown as ForkWire;
}

/** A turn by chat; the ids of its session and its run. */
async function say(content: string, sessionId?: string) {
  const { response } = await client.chat.completions
    .create({
      model: 'm',
      messages: [{ role: 'user', content }],
      ...(sessionId && { metadata: { session_id: sessionId } }),
    })
    .withResponse();
  return { sessionId: response.headers.get('x-session-id')!, runId: response.headers.get('x-run-id')! };
}

async function errand<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

const workspaceOf = (sessionId: string) => join(daemon.dataDir, 'workspaces', sessionId);
function filesOf(sessionId: string): Record<string, string> {
  const root = workspaceOf(sessionId);
  const names = existsSync(root) ? readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile()) : [];
  return Object.fromEntries(names.map(({ name }) => [name, readFileSync(join(root, name), 'utf8')]));
}
const lastAsked = () => JSON.stringify(model.requests.at(-1)?.body.messages);
const texts = async (sessionId: string) =>
  ((await call('GET', `/sessions/${sessionId}/messages`)).body['messages'] as { text_preview: string }[]).map(
    (one) => one.text_preview,
  );

test('a fork has the conversation and the files up to a run, and what either does then is its own', {
  tags: ['M2-history', 'M2-workspace'],
}, async () => {
  const first = await say('a=one\nb=one');
  const second = await say('a=two', first.sessionId);
  await say('c=three', first.sessionId);
  const forked = await fork(first.sessionId, { run_id: second.runId });
  expect(forked).toMatchObject({
    status: 'completed',
    workspace: 'as_of_run',
    origin: { session_id: first.sessionId, run_id: second.runId },
  });
  expect(await texts(forked.session_id)).toEqual(['a=one b=one', 'A=ONE B=ONE', 'a=two', 'A=TWO']);
  await say('d=four', forked.session_id);
  for (const words of ['a=one', 'A=TWO', 'd=four']) expect(lastAsked()).toContain(words);
  expect(lastAsked()).not.toContain('c=three');
  expect(filesOf(forked.session_id)).toEqual({ a: 'two', b: 'one', d: 'four' });
  expect(filesOf(first.sessionId)).toEqual({ a: 'two', b: 'one', c: 'three' });
  const shown = await errand<SessionWire>('sessions', 'show', forked.session_id);
  expect(shown.origin).toEqual({ session_id: first.sessionId, run_id: second.runId });
  expect(
    rowsOf(
      daemon,
      `SELECT count(*) AS n FROM usage_records u JOIN sessions s ON s.seq = u.session_seq WHERE s.id = '${forked.session_id}'`,
    ),
  ).toEqual([{ n: 2 }]);
});

test('the command forks a session of anybody, which is logged, and a fork while its session works', {
  tags: ['M2-history', 'G10'],
}, async () => {
  const first = await say('a=one');
  const { promise: until, resolve: go } = Promise.withResolvers<void>();
  model.enqueue({ text: ['half', 'whole'], hang: 'mid-stream', afterDeltas: 1, until });
  const running = say('on', first.sessionId);
  await waitFor(() => lastAsked().includes('"on"'));
  const forked = await errand<ForkWire>('sessions', 'fork', first.sessionId.slice(0, 23));
  expect(forked.origin).toEqual({ session_id: first.sessionId, run_id: first.runId });
  await say('more', forked.session_id);
  expect(lastAsked()).not.toContain('"on"');
  expect(filesOf(forked.session_id)).toEqual({ a: 'one' });
  go();
  await running;
  const at = await errand<ForkWire>('sessions', 'fork', first.sessionId, '--at', first.runId);
  expect(at).toMatchObject({ workspace: 'as_of_run', origin: { run_id: first.runId } });
  const { items } = await errand<{ items: { action: string; target_id: string }[] }>(
    'audit',
    'list',
    '--action',
    'session.fork',
  );
  expect(items.map(({ target_id }) => target_id)).toEqual([first.sessionId, first.sessionId]);
});

test('sessions of other keys are 403, and of runs of others nothing is told', { tags: ['M2-rights'] }, async () => {
  const mine = await say('mine');
  const other = await say('other');
  const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: daemon.adminName, scope: 'conversation' })) as {
    key: string;
  };
  const unknown = '0190f6a0-0000-7000-8000-000000000000';
  const path = (id: string) => `/sessions/${id}/fork`;
  expect((await call('POST', path(mine.sessionId), {}, key)).status).toBe(403);
  expect((await call('POST', path(unknown))).status).toBe(404);
  expect((await call('POST', path(mine.sessionId), { run_id: 'x' })).status).toBe(422);
  const refused = [other.runId, unknown].map((run_id) => call('POST', path(mine.sessionId), { run_id }));
  const [ofOther, ofNobody] = await Promise.all(refused);
  expect(ofOther).toEqual(ofNobody);
  expect(ofOther!.status).toBe(404);
});

test('a fork outlives its session, also a daemon that is killed, and the files that it has not listed yet', {
  tags: ['M2-deletion', 'M2-workspace'],
}, async () => {
  const first = await say('k=one');
  await say('k=two', first.sessionId);
  const forked = await fork(first.sessionId, { run_id: first.runId });
  await daemon.kill();
  await daemon.restart();
  expect((await call('DELETE', `/sessions/${first.sessionId}`)).status).toBe(200);
  await waitFor(() => rowsOf(daemon, 'SELECT * FROM cleanups').length === 0);
  await say('b=three', forked.session_id);
  expect(lastAsked()).toContain('K=ONE');
  expect(lastAsked()).not.toContain('k=two');
  expect(filesOf(forked.session_id)).toEqual({ b: 'three', k: 'one' });
  await call('DELETE', `/sessions/${forked.session_id}`);
  await waitFor(() => rowsOf(daemon, 'SELECT * FROM cleanups').length === 0);
  expect(rowsOf(daemon, "SELECT * FROM messages WHERE content LIKE '%k=one%'")).toEqual([]);
});

test('an older response is followed by a fork there, with its files, as often as it is asked', {
  tags: ['M3-previous', 'M2-turn', 'M2-workspace'],
}, async () => {
  const create = (input: string, previous_response_id?: string) =>
    client.responses.create({ model: 'm', input, ...(previous_response_id && { previous_response_id }) });
  const first = await create('a=one');
  const second = await create('a=two\nb=two', first.id);
  const [third, fourth] = await Promise.all([create('c=three', first.id), create('c=four', first.id)]);
  expect(third.output_text).toBe('C=THREE');
  const sessions = [second, third, fourth].map(({ conversation }) => conversation!.id);
  expect(new Set(sessions).size).toBe(3);
  expect(filesOf(sessions[1]!)).toEqual({ a: 'one', c: 'three' });
  expect(filesOf(sessions[2]!)).toEqual({ a: 'one', c: 'four' });
  const onward = await create('and then?', third.id);
  expect(onward.conversation!.id).toBe(sessions[1]);
  for (const words of ['a=one', 'c=three']) expect(lastAsked()).toContain(words);
  expect(lastAsked()).not.toContain('b=two');
  await call('DELETE', `/sessions/${sessions[0]!}`);
  await expect(create('gone', first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  expect((await create('still there?', onward.id)).output_text).toBe('STILL THERE?');
});

test('a chat that is edited in its middle, and an answer that is asked for again, are forks with their files', {
  tags: ['M1-history', 'M2-turn', 'M2-workspace'],
}, async () => {
  const made = { user: daemon.adminName, scope: 'conversation', continue_by: 'history' };
  const { key } = (await daemon.admin('POST', '/api/v1/keys', made)) as { key: string };
  const chat = new OpenAI({ apiKey: key, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
  const send = async (...said: readonly string[]) => {
    const messages = said.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }) as const);
    const { data, response } = await chat.chat.completions.create({ model: 'm', messages }).withResponse();
    return { answer: data.choices[0]!.message.content!, session: response.headers.get('x-session-id')! };
  };
  const begun = ['a=one', 'A=ONE'];
  const { session } = await send('a=one');
  expect((await send(...begun, 'b=two')).session).toBe(session);
  const again = await send(...begun, 'b=two');
  const edited = await send(...begun, 'c=three');
  expect(new Set([session, again.session, edited.session]).size).toBe(3);
  expect(lastAsked()).not.toContain('earlier_conversation');
  expect(filesOf(edited.session)).toEqual({ a: 'one', c: 'three' });
  expect(filesOf(session)).toEqual({ a: 'one', b: 'two' });
  expect((await send(...begun, 'c=three', 'C=THREE', 'd=four')).session).toBe(edited.session);
  expect(filesOf(edited.session)).toEqual({ a: 'one', c: 'three', d: 'four' });
  // What is equal is one conversation, wherever it was said last.
  expect((await send(...begun, 'b=two', 'B=TWO', 'on')).session).toBe(again.session);
});

test('what is laid there by hand after a run is not in a fork at it', {
  tags: ['M2-workspace'],
}, async () => {
  const first = await say('a=one');
  const second = await say('nothing', first.sessionId);
  writeFileSync(join(workspaceOf(first.sessionId), 'hand'), 'made');
  await say('a=two', first.sessionId);
  const forked = await fork(first.sessionId, { run_id: second.runId });
  await say('b=three', forked.session_id);
  expect(forked.workspace).toBe('as_of_run');
  expect(filesOf(forked.session_id)).toEqual({ a: 'one', b: 'three' });
});
