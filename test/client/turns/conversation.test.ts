// A turn must survive what networks do to it.
import { once } from 'node:events';
import { text as textFrom } from 'node:stream/consumers';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { makeClient } from '../../../src/client/client.ts';
import type { Conversation } from '../../../src/client/turns/conversation.ts';
import { textOfDelta } from '../../../src/client/turns/messages.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

interface Seen {
  readonly line: string;
  readonly lastEventId: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
}

/** A server that gives each request the next of the answers. */
async function serving(...answers: readonly Answer[]): Promise<{ url: string; seen: Seen[]; close(): void }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void textFrom(request).then((text) => {
      seen.push({
        line: `${request.method} ${request.url}`,
        lastEventId: request.headers['last-event-id'] as string | undefined,
        authorization: request.headers.authorization,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      });
      answers[seen.length - 1]?.(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close };
}

const RUN = '0190f6a0-0000-7000-8000-000000000001';
const HEADERS = { 'content-type': 'text/event-stream', 'x-session-id': 'session-1', 'x-run-id': RUN };

const event = (id: number, name: string, data: object = {}) =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const text = (id: number, words: string) =>
  event(id, 'content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } });

const START = event(1, 'message_start', { message: { id: 'msg_1', content: [] } });

const breaking =
  (...events: string[]): Answer =>
  (response) => {
    response.writeHead(200, HEADERS);
    response.write(events.join(''), () => response.destroy());
  };
const whole =
  (...events: string[]): Answer =>
  (response) => {
    response.writeHead(200, HEADERS);
    response.end(events.join(''));
  };
const refusing =
  (status: number, message = 'No.'): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1' });
    response.end(JSON.stringify({ type: 'error', error: { type: 'x', message } }));
  };

const ASK = { apiKey: 'errand_key', model: 'errand', text: 'Hello', retryDelaysMs: [1, 1, 1] };

async function textOf({ events }: Conversation): Promise<string> {
  let words = '';
  for await (const event of events) if (event.type === 'content_block_delta') words += textOfDelta(event);
  return words;
}

const stream = (url: string, ask: object = {}) => makeClient({ url, token: null }).messages.stream({ ...ASK, ...ask });

test('a stream that breaks continues where it broke, with the same key', async () => {
  const { url, seen } = await serving(
    breaking(START, text(2, 'one ')),
    breaking(text(3, 'two ')),
    whole(text(4, 'three'), event(5, 'message_stop')),
  );
  expect(await textOf(await stream(url))).toBe('one two three');
  expect(seen.map(({ line, lastEventId }) => [line, lastEventId])).toEqual([
    ['POST /openapi/v1/messages', undefined],
    [`GET /openapi/v1/runs/${RUN}/stream`, '2'],
    [`GET /openapi/v1/runs/${RUN}/stream`, '3'],
  ]);
  expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer errand_key']));
});

test('a stream that ends in good order but before message_stop is rejoined too', async () => {
  const { url } = await serving(whole(START, text(2, 'a')), whole(text(3, 'b'), event(4, 'message_stop')));
  expect(await textOf(await stream(url))).toBe('ab');
});

test('a daemon that is not ready yet is asked again', async () => {
  const { url, seen } = await serving(breaking(START), refusing(503), whole(event(2, 'message_stop')));
  expect(await textOf(await stream(url))).toBe('');
  expect(seen).toHaveLength(3);
});

test('a silent stream counts as broken', async () => {
  const silent: Answer = (response) => {
    response.writeHead(200, HEADERS);
    response.write(START);
  };
  const { url } = await serving(silent, whole(text(2, 'x'), event(3, 'message_stop')));
  expect(await textOf(await stream(url, { idleTimeoutMs: 50 }))).toBe('x');
});

test('a stream that always breaks without a word is given up, naming the session', async () => {
  const { url, seen } = await serving(breaking(START), ...Array.from({ length: 9 }, () => breaking()));
  const failed = textOf(await stream(url));
  await expect(failed).rejects.toMatchObject({
    failure: { kind: 'lost' },
    trace: { sessionId: 'session-1', runId: RUN },
  });
  expect(seen).toHaveLength(4);
});

test('a rejoin that is refused ends at once', async () => {
  const { url, seen } = await serving(breaking(START), refusing(403, 'Not yours.'));
  await expect(textOf(await stream(url))).rejects.toMatchObject({
    message: 'Not yours.',
    failure: { kind: 'refused', status: 403 },
    trace: { requestId: 'r-1' },
  });
  expect(seen).toHaveLength(2);
});

test('an error event is the failure of the run and is not retried', async () => {
  const failure = event(2, 'error', { error: { type: 'api_error', message: 'The model is gone.' } });
  const { url, seen } = await serving(whole(START, failure));
  await expect(textOf(await stream(url))).rejects.toMatchObject({
    message: 'The model is gone.',
    failure: { kind: 'failed', type: 'api_error' },
  });
  expect(seen).toHaveLength(1);
});

test('a turn whose connection breaks before the answer is sent again under the same idempotency key', async () => {
  const { url, seen } = await serving(
    (response) => response.destroy(),
    whole(START),
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-session-id': 'session-1', 'x-run-id': RUN });
      response.end(JSON.stringify({ content: [{ type: 'text', text: 'Hi.' }] }));
    },
  );
  const conversation = await makeClient({ url, token: null }).messages.stream(ASK);
  expect(conversation).toMatchObject({ runId: RUN });
  expect(seen).toHaveLength(2);
  expect(seen[0]?.body['idempotency_key']).toMatch(/^[0-9a-f-]{36}$/);
  expect(seen[1]?.body).toEqual(seen[0]?.body);
  expect((await conversation.whole()).content).toEqual([{ type: 'text', text: 'Hi.' }]);
  expect(seen[2]?.body).toEqual({ ...seen[0]?.body, stream: false });
});

test.each([
  ['Session not found.', 'Session "01" not found.'],
  ['User not found.', 'User "mara" not found.'],
  ['Project not found.', 'Project not found.'],
])('what a turn names and is not found is named, also after a try that broke: %s', async (message, named) => {
  const asked = { sessionId: '01', username: 'mara' };
  const { url } = await serving(refusing(404, message), (response) => response.destroy(), refusing(404, message));
  const refused = { message: named, failure: { kind: 'refused', status: 404 }, trace: { requestId: 'r-1' } };
  await expect(stream(url, asked)).rejects.toMatchObject(refused);
  await expect(stream(url, asked)).rejects.toMatchObject(refused);
});

test('a turn that reaches no daemon is not sent again', async () => {
  const { url, close } = await serving();
  close();
  let tries = 0;
  const failed = stream(url, { onRetry: () => (tries += 1) });
  await expect(failed).rejects.toMatchObject({ failure: { kind: 'unreachable' } });
  expect(tries).toBe(0);
});

test('an abort ends a stream at once instead of rejoining it', async () => {
  const { url, seen } = await serving((response) => {
    response.writeHead(200, HEADERS);
    response.write(START);
  });
  const controller = new AbortController();
  const conversation = await makeClient({ url, token: null }, controller.signal).messages.stream(ASK);
  await conversation.events.next();
  controller.abort();
  await expect(conversation.events.next()).rejects.toThrow();
  expect(seen).toHaveLength(1);
});

test('a page of some other server is not taken for a stream', async () => {
  const { url } = await serving((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'));
  await expect(stream(url)).rejects.toMatchObject({ failure: { kind: 'malformed' } });
});
