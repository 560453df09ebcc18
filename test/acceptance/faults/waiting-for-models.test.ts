// Models that can't be reached: watchers are told, who never has answered is given up soon, and a corrected models.yaml reaches those who wait.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { openTurn, takeTurn } from '../../support/daemon/turn.ts';
import { readSse, type SseEvent } from '../../support/http/sse.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Addresses of their own: on that of the other tests, another server could take the port meanwhile. */
const CLOSED = 'http://127.0.0.79:8480';
const HOST = '127.0.0.79';
const TELL = { 'X-Stream-Tool-Events': 'true' };

const modelsYaml = (qwen: string, key: string) =>
  [
    'endpoints:',
    `  local: { kind: openai, base_url: "${qwen}", headers: { x-of: "${key}" } }`,
    'models:',
    '  qwen: { endpoint: local, model: qwen3 }',
    'scenarios: { general: { model: qwen } }',
  ].join('\n');

let daemon: DaemonProcess;
let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer({ host: HOST });
  daemon = await startDaemonProcess({ modelsYaml: modelsYaml(CLOSED, 'first') });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const configure = (address: string, key: string) =>
  writeFileSync(join(daemon.configDir, 'models.yaml'), modelsYaml(address, key));
const begunWaits = () => rowsOf(daemon, "SELECT id FROM events WHERE type = 'model_wait.started'").length;
const dataOf = (events: readonly SseEvent[], name: string) =>
  events.filter(({ event }) => event === name).map(({ data }) => JSON.parse(data!) as Record<string, unknown>);

test('who asks for tool events hears of the wait; an endpoint that never has answered fails after ten seconds', {
  tags: ['D8-unproven', 'D8-wait-events'],
}, async () => {
  const [told, untold] = await Promise.all([
    takeTurn(daemon, { stream: true, content: 'Hello.', headers: TELL }),
    takeTurn(daemon, { stream: true, content: 'Hello.' }),
  ]);
  expect(dataOf(told.events, 'model_wait.started')).toMatchObject([
    { model: 'qwen', agent: null, patience_ms: 10_000, message: expect.stringContaining('refused') },
  ]);
  expect(dataOf(told.events, 'model_wait.ended')).toMatchObject([{ model: 'qwen', answered: false }]);
  expect(told.error?.message).toContain('"errand models check qwen" says more.');
  expect(untold.events.map(({ event }) => event).join(' ')).not.toContain('model_wait');
  expect(untold.error?.message).toContain('never answered since it was configured');
});

test('a corrected models.yaml reaches a run that waits; official clients and errand chat get its answer', {
  tags: ['D8-corrected', 'D8-wait-events'],
}, async () => {
  model.script({ text: 'At last.' });
  const client = new Anthropic({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
  const before = begunWaits();
  // A program takes long to start, and ten seconds after its run begins to wait, that one fails.
  const chat = runErrand(['chat', '--stream', 'Hello.', '--data-dir', daemon.dataDir], {
    env: { ERRAND_API_KEY: daemon.apiKey },
  });
  await waitFor(() => begunWaits() === before + 1, { what: 'the program to wait' });
  const stream = client.messages.stream(
    { model: 'x', max_tokens: 100, messages: [{ role: 'user', content: 'Hello.' }] },
    { headers: TELL },
  );
  await waitFor(() => begunWaits() === before + 2, { what: 'both to wait' });
  configure(model.url, 'second');
  expect((await stream.finalMessage()).content).toMatchObject([{ text: 'At last.' }]);
  const { stdout, stderr } = await chat;
  expect(stdout).toBe('At last.\n');
  expect(stderr).toMatch(/^! The model "qwen" .* refused\. Trying until \d\d:\d\d:\d\d\.$/m);
  expect(model.requests.at(-1)?.headers['x-of']).toBe('second');
});

test('after a restart, one that has answered before has all patience, and a watcher hears that it replies', {
  tags: ['D8-unproven', 'D8-wait-events'],
}, async () => {
  const port = model.port;
  await model.close();
  await daemon.restart();
  const before = begunWaits();
  const askedAt = Date.now();
  const turn = takeTurn(daemon, { stream: true, content: 'Still there?', headers: TELL });
  await waitFor(() => begunWaits() > before);
  model = await startModelServer({ host: HOST, port });
  model.script({ text: 'I am.' });
  const { events, text } = await turn;
  expect(text).toBe('I am.');
  const [started] = dataOf(events, 'model_wait.started');
  expect(started).toMatchObject({ patience_ms: 120_000 });
  expect(Date.parse(String(started!['until']))).toBeGreaterThan(askedAt);
  expect(dataOf(events, 'model_wait.ended')).toMatchObject([{ model: 'qwen', answered: true }]);
  const names = events.map(({ event }) => event).filter((name) => name !== 'ping');
  expect(names.indexOf('model_wait.ended')).toBeLessThan(names.indexOf('content_block_start'));
});

test('another key makes it an endpoint that never has answered, and a check is an answer', {
  tags: ['D8-unproven'],
}, async () => {
  configure(CLOSED, 'third');
  const refused = await waitFor(async () => {
    const turn = await takeTurn(daemon, { content: 'Hello.' });
    return turn.error !== null && turn;
  });
  expect(refused.error?.message).toContain('never answered');
  configure(model.url, 'fourth');
  await waitFor(async () => {
    const { findings } = (await daemon.admin('POST', '/api/v1/models/qwen/check')) as {
      findings: { check: string; state: string }[];
    };
    return findings.some(({ check, state }) => check === 'stream' && state === 'ok');
  });
  await model.close();
  const leaving = new AbortController();
  const { body } = await openTurn(daemon, { stream: true, content: 'Hello.', headers: TELL, signal: leaving.signal });
  for await (const { event, data } of readSse(body!)) {
    if (event !== 'model_wait.started') continue;
    expect(JSON.parse(data!)).toMatchObject({ patience_ms: 120_000 });
    break;
  }
  leaving.abort();
});
