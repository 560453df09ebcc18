// The browser and attached documents in the real daemon. Without Chromium the browser's tests are skipped, and say so.
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { aSite, chromium, processesOf } from '../../support/agent/browser-run.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { aPdf } from '../../support/files/documents.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let models: ModelServer;
let daemon: DaemonProcess;
let key: string;

beforeAll(async () => {
  models = await startModelServer();
  daemon = await startDaemonProcess({
    modelServerUrl: models.url,
    errandYaml: 'browser: { enabled: true }\negress: { allow: [{ cidr: 127.0.0.0/8, for: [web_fetch] }] }\n',
  });
  const wanted = { user: daemon.adminName, scope: 'conversation', capability_config: { browser_enabled: true } };
  ({ key } = (await daemon.admin('POST', '/api/v1/keys', wanted)) as { key: string });
});

afterAll(async () => {
  await daemon.close();
  await models.close();
});

const rows = <Row>(sql: string): Row[] => {
  const connection = new Connection(join(daemon.dataDir, 'errand.db'), { readonly: true });
  try {
    return connection.prepare(sql).all() as Row[];
  } finally {
    connection.close();
  }
};

const say = (content: unknown, { as = key, ...more }: { as?: string; metadata?: object } = {}) =>
  fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': as, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'errand', messages: [{ role: 'user', content }], ...more }),
  });

const textOf = async (response: Response) => {
  const body = (await response.json()) as { content?: { text: string }[] };
  return body.content?.map(({ text }) => text).join('') ?? JSON.stringify(body);
};

/** The prompt of the newest model call. */
const prompt = () => JSON.stringify(models.requests.at(-1)?.body.messages);

describe.skipIf(!chromium.ok)('the browser in the daemon', () => {
  test('opens a page for an agent, and its picture is kept for the tool use', async () => {
    const site = await aSite({ onTestFinished }, { '/': '<title>Tides</title><h1>High water at noon</h1>' });
    models.enqueue({ tools: [{ id: 'look', name: 'browser_open', input: { url: site.url } }] }, { text: 'At noon.' });
    expect(await textOf(await say('When is high water?'))).toBe('At noon.');
    expect(prompt()).toContain('heading \\"High water at noon\\"');
    const [picture] = rows<{ sha256: string; size: number; tool_use_id: string }>('SELECT * FROM screenshots');
    expect(picture).toMatchObject({ tool_use_id: 'look' });
    expect(picture!.size).toBeGreaterThan(1_000);
  });

  test('is a part of readiness, and no tool of a key without it', async () => {
    const ready = (await (await fetch(`${daemon.url}/readyz`)).json()) as { parts?: unknown };
    expect(JSON.stringify(ready)).toContain('browser');
    await say('[[text=Hello.]]', { as: daemon.apiKey });
    expect(JSON.stringify(models.requests.at(-1)?.body['tools'])).not.toContain('browser_open');
    await say('[[text=Hello.]]');
    expect(JSON.stringify(models.requests.at(-1)?.body['tools'])).toContain('browser_open');
  });

  test('leaves no process behind when the daemon is killed in the middle of a page', async () => {
    const site = await aSite({ onTestFinished }, { '/': '<title>Slow</title>', '/slow': () => undefined });
    models.enqueue({ tools: [{ name: 'browser_open', input: { url: `${site.url}/slow` } }] });
    const lost = say('Wait for it.').catch(() => undefined);
    await waitFor(() => site.asked.includes('GET /slow'));
    const [{ id }] = rows<{ id: string }>('SELECT id FROM runs ORDER BY seq DESC LIMIT 1') as [{ id: string }];
    expect(processesOf(id)).not.toEqual([]);
    await daemon.kill();
    await lost;
    await waitFor(() => processesOf(id).length === 0);
    models.enqueue({ text: 'Resumed.' });
    await daemon.restart();
    await waitFor(() => rows(`SELECT 1 FROM runs WHERE status = 'completed' AND id = '${id}'`).length === 1);
    expect(prompt()).toContain('outcome unknown');
  });
});

test('a PDF is given to a model as its text, in this turn and the next', async () => {
  const document = {
    type: 'document',
    file_name: 'tides.pdf',
    source: { type: 'base64', media_type: 'application/pdf', data: aPdf(['High water at noon.']).toString('base64') },
  };
  const first = await say([{ type: 'text', text: '[[text=Read.]]' }, document]);
  expect(await textOf(first)).toBe('Read.');
  expect(prompt()).toContain('in the workspace at /uploads/tides.pdf. Its text follows');
  expect(prompt()).toContain('High water at noon.');
  expect(rows('SELECT text FROM document_texts')).toEqual([{ text: 'High water at noon.' }]);
  const [{ id }] = rows<{ id: string }>('SELECT id FROM sessions ORDER BY seq DESC LIMIT 1') as [{ id: string }];
  await say('[[text=Again.]]', { metadata: { session_id: id } });
  expect(prompt()).toContain('High water at noon.');
  expect(models.requests.at(-1)?.body.messages).toHaveLength(4);
});
