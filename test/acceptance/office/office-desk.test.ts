// The view on a real daemon that is killed under it, refuses its key and deletes what it shows.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { desk } from '../../../src/tui/state/desk-state.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { openOfficeView } from '../../support/terminal/office-view.ts';

let daemon: DaemonProcess;
let model: ModelServer;

const OUTLINE: Reply = {
  text: ['I begin ', 'with the outline.'],
  tools: [{ name: 'write_file', input: { path: 'tides.md', content: 'Tides.' } }],
};

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'workers: { threads: 1, runs_per_thread: 2 }\nstreams: { drain_seconds: 0 }\n',
  });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

async function begin(text: string, key = daemon.apiKey) {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: text }] }),
  });
  expect(response.status).toBe(200);
  await response.body!.cancel();
  return response.headers.get('x-session-id')!;
}

function open(sessionId: string, token: string) {
  const view = openOfficeView({ url: daemon.url, token, screens: [floor(), desk(sessionId)] });
  onTestFinished(view.close);
  return view;
}

const seqsOf = (view: ReturnType<typeof open>) => {
  const screen = view.state().screens.at(-1);
  return screen?.name === 'desk' ? screen.log.events.flatMap(({ stream_seq: seq }) => (seq === null ? [] : [seq])) : [];
};

test('a session survives kill -9 on the screen, its files are saved, and its deletion shows', async () => {
  let isHolding = true;
  model.script(({ step }) =>
    step === 0 ? OUTLINE : isHolding ? { hang: 'after-headers' } : { text: ['All ', 'done.'] },
  );
  const sessionId = await begin('Report on the tides');
  const view = open(sessionId, daemon.apiKey);
  await view.until(/❯ Report on the tides[^]*I begin with the outline\.[^]*writes tides\.md/);
  // It asks again once the file is written.
  await waitFor(() => model.requests.length === 2);
  await daemon.kill();
  await view.until(/◌ (not reachable|reconnecting)/);
  expect(view.screen()).toContain('I begin with the outline.');
  isHolding = false;
  await daemon.restart();
  await view.until(/All done\.[^]*✓ run completed/);
  await view.until('files ready');
  const seqs = seqsOf(view);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));

  const directory = mkdtempSync(join(tmpdir(), 'errand-desk-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  vi.spyOn(process, 'cwd').mockReturnValue(directory);
  onTestFinished(() => void vi.restoreAllMocks());
  view.press('4');
  await view.until(/❯ .*tides\.md +6 B/);
  view.press('d');
  await view.until(`Saved ${directory}`);
  expect(readFileSync(join(directory, 'tides.md'), 'utf8')).toBe('Tides.');

  view.press('2');
  await view.until(/Round 1 .*\n *asked +Report on the tides/);
  await daemon.admin('DELETE', `/api/v1/sessions/${sessionId}`);
  await view.until('✗ deleted');
});

test('a key that is revoked shows on the desk', async () => {
  model.script(() => ({ hang: 'after-headers' }));
  const sessionId = await begin('Wait');
  const made = (await daemon.admin('POST', '/api/v1/keys', { user: daemon.adminName, scope: 'admin' })) as {
    key: string;
    id: string;
  };
  const view = open(sessionId, made.key);
  await view.until(/● run started/);
  await daemon.admin('DELETE', `/api/v1/keys/${made.id}`);
  await daemon.restart();
  await view.until(/✗ the key is not valid[^]*✗ the key is not valid/);
});

test('the floor has what a run was asked and the last words that it writes; beside it they are read along, and the record says so', async () => {
  const story = Array.from({ length: 40 }, (_, at) => `word${at} `);
  const text = ['**Bold** beginnings. ', ...story, 'and the end'];
  model.script(() => ({ text, deltaMs: 20, hang: 'mid-stream', afterDeltas: text.length }));
  await daemon.admin('POST', '/api/v1/users', { username: 'ann' });
  const made = await daemon.admin('POST', '/api/v1/keys', { user: 'ann', scope: 'conversation' });
  const asked = '<system-reminder>Hidden.</system-reminder>A story of the tides';
  const view = openOfficeView({ url: daemon.url, token: daemon.apiKey, columns: 200, rows: 30 });
  onTestFinished(view.close);
  await view.until('● live');
  const sessionId = await begin(asked, (made as { key: string }).key);
  await view.until(/● .*A story of the tides.*“….*word39 and the end/);
  const reads = async () =>
    ((await daemon.admin('GET', `/api/v1/audit?session=${sessionId}`)) as { items: unknown[] }).items.length;
  expect([await reads(), view.screen().includes('Bold beginnings.')]).toEqual([0, false]);
  view.press('g');
  await view.until(/│ +Bold beginnings\. word0 /);
  expect(await reads()).toBeGreaterThan(0);
});
