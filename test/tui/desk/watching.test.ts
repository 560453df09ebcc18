// The desk with a daemon that dies, forgets, refuses and is slow: real HTTP, and the whole view.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { desk } from '../../../src/tui/state/desk-state.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { anEntity, anEvent, aSnapshot, AT, sessionId, startOfficeServer } from '../../support/http/office-server.ts';
import { openOfficeView } from '../../support/terminal/office-view.ts';
import { waitFor } from '../../support/time/wait-for.ts';

type Told = Parameters<typeof anEvent>;

async function watch({ events = 3, tz = 'UTC' } = {}) {
  const server = await startOfficeServer(aSnapshot([anEntity(1)]));
  onTestFinished(() => server.die());
  let seq = 0;
  const numbered = (type: Told[1], payload?: Told[2]) => ({ ...anEvent(1, type, payload), stream_seq: (seq += 1) });
  const line = (text: string) => {
    const delta = { type: 'text_delta' as const, text: `${text}\n` };
    return numbered('content_block_delta', { index: 0, delta });
  };
  for (let at = 1; at <= events; at += 1) server.keep(line(`line ${at}.`));
  const open = () => {
    const view = openOfficeView({ url: server.url(), screens: [floor(), desk(sessionId(1))], tz });
    onTestFinished(view.close);
    return view;
  };
  const reads = (path: string) => server.requests.filter((request) => request.includes(path)).length;
  return { server, open, line, numbered, reads };
}

const deskOf = (view: ReturnType<typeof openOfficeView>) => {
  const screen = view.state().screens.at(-1);
  if (screen?.name !== 'desk') throw new Error('The desk is not open.');
  return screen;
};
const texts = (view: ReturnType<typeof openOfficeView>) =>
  deskOf(view).log.events.map(({ payload }) => JSON.stringify(payload).match(/line (\d+)/)?.[1]);
const upTo = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1));

test('a daemon that dies and rises: the heading says so, and the text continues without gap or double', async () => {
  const { server, open, line } = await watch();
  const view = open();
  await view.until(/● live[^]*● live[^]*line 3\./);
  server.emit(line('line 4.'));
  await view.until('line 4.');
  await server.die();
  await view.until(/Plot.*◌ (not reachable|reconnecting)/);
  server.emit(line('line 5.'));
  await server.rise();
  await view.until(/Plot.*● live[^]*line 5\./);
  expect(texts(view)).toEqual(upTo(5));
});

test('the heading of a session that no snapshot has room for is its newest run, read once', async () => {
  const { server, open, reads } = await watch();
  const over = { status: 'completed', detail: null, finished_at: new Date(AT).toISOString() } as const;
  server.ofSession.set('', { session_id: sessionId(2), items: [anEntity(2, over)], total: 1, limit: 1, offset: 0 });
  const known = open();
  await known.until(/Plot.*● live[^]*line 3\./);
  expect(reads('office-runs')).toBe(0);
  const view = openOfficeView({ url: server.url(), screens: [floor(), desk(sessionId(2))] });
  onTestFinished(view.close);
  await view.until(/✓ Plot the sales of quarter 2.*Ann Arbor.*\$0\.07.*● live/);
  expect(reads('office-runs')).toBe(1);
});

test('a gap of more than a page is filled, also right after the page that it began with', async () => {
  const { server, open, line } = await watch();
  const view = open();
  await view.until(/Plot.*● live[^]*line 3\./);
  for (let at = 4; at <= 1303; at += 1) server.keep(line(`line ${at}.`));
  server.emit(line('line 1304.'));
  await view.until('line 1304.');
  expect(texts(view)).toEqual(upTo(1304));
});

test('a key that is revoked shows in the heading, and the desk comes back once it is valid', async () => {
  const { server, open, line } = await watch();
  const view = open();
  await view.until(/Plot.*● live[^]*line 3\./);
  server.status = 401;
  await server.die();
  await server.rise();
  await view.until(/Plot.*✗ the key is not valid/);
  expect(view.screen()).toContain('line 3.');
  server.status = null;
  server.emit(line('line 4.'));
  await view.until(/Plot.*● live[^]*line 4\./);
  expect(texts(view)).toEqual(upTo(4));
});

test('a session that is deleted stays to be read, and is asked for no more', async () => {
  const { server, open, reads } = await watch();
  const view = open();
  await view.until(/Plot.*● live[^]*line 3\./);
  server.gone.add(sessionId(1));
  server.emit({ ...anEvent(1, 'session.deleted'), run_id: null });
  await view.until(/✗ deleted[^]*line 3\.[^]*the session was deleted/);
  expect(reads(`${sessionId(1)}/stream`)).toBe(2);
});

test('a session that is not there says so', async () => {
  const { server, open } = await watch();
  server.gone.add(sessionId(1));
  await open().until('✗ not there');
});

test('the past is read page by page as its user comes to it, and G returns to the present', async () => {
  const { server, open, line, reads } = await watch({ events: 1200 });
  const view = open();
  await view.until(/Plot.*● live[^]*line 1200\./);
  await waitFor(() => {
    view.press('g');
    return view.screen().includes('line 1.\n');
  });
  expect(texts(view)).toEqual(upTo(1200));
  expect(reads('before_id')).toBe(2);
  server.emit(line('line 1201.'));
  view.press('G');
  await view.until('line 1201.');
});

test('a past that leaves no room for the present: the desk reads on where it ends, and returns at once with G', async () => {
  const { server, open, line } = await watch({ events: 5400 });
  const view = open();
  await view.until(/Plot.*● live[^]*line 5400\./);
  await waitFor(() => {
    view.press('g');
    return deskOf(view).log.events[0]?.id === 1;
  });
  await view.until('◌ the past');
  expect(texts(view)).toEqual(upTo(5000));
  server.emit(line('line 5401.'));
  view.press('G');
  await view.until(/Plot.*● live[^]*line 5401\./);
});

test('paused, the picture stays while the session goes on, and the past can be read', async () => {
  const { server, open, line } = await watch({ events: 700 });
  const view = open();
  await view.until(/Plot.*● live[^]*line 700\./);
  view.press('p');
  await view.until('paused');
  server.emit(line('line 701.'));
  await waitFor(() => deskOf(view).log.events.length === 501);
  expect(view.screen()).not.toContain('line 701.');
  await waitFor(() => {
    view.press('g');
    return view.screen().includes('line 1.\n');
  });
  view.press('G', 'p');
  await view.until('line 701.');
});

/** Rounds as the daemon answers them. */
const roundsOf = (total: number) => (query: URLSearchParams) => {
  const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))];
  const items = Array.from({ length: total }, (_, at) => ({
    round_no: at + 1,
    run_id: at + 1 === total ? anEntity(1).run_id : `run ${at + 1}`,
    status: 'completed',
    user_message: `Question ${at + 1}.`,
    assistant_message: null,
    tools: [],
    input_tokens: 1,
    output_tokens: 1,
    cost_usd: 0,
    started_at: '2026-03-01T22:30:00.000Z',
    finished_at: null,
  }));
  return { session_id: sessionId(1), items: items.slice(offset, offset + limit), total, limit, offset };
};

test('what the user asked begins its run in the live view', async () => {
  const { server, open, numbered } = await watch({ events: 0 });
  server.ofSession.set('run-rounds', roundsOf(70));
  server.keep(numbered('run.queued', { schedule_mode: 'immediate' }));
  const view = open();
  await view.until(/❯ Question 70\.\n *○ run queued/);
});

test('rounds page back through history, in the time zone that was asked for', async () => {
  const { server, open, reads } = await watch({ tz: 'Asia/Kolkata' });
  server.ofSession.set('run-rounds', roundsOf(120));
  const view = open();
  await view.until('line 3.');
  view.press('2');
  await view.until(/Round 120 .*2 Mar 2026 04:00/);
  await waitFor(() => {
    view.press('G');
    return view.screen().includes('Round 1 ');
  });
  expect(reads('run-rounds')).toBe(4);
  view.press('g');
  await view.until('Round 120 ');
});

test('messages page back through history', async () => {
  const { server, open } = await watch();
  server.ofSession.set('messages-with-files', (query: URLSearchParams) => {
    const before = Number(query.get('before_id') ?? 121);
    const count = Math.min(before - 1, Number(query.get('limit')));
    const items = Array.from({ length: count }, (_, at) => {
      const id = before - count + at;
      const content = { content: [{ type: 'text', text: `Message ${id}.` }] };
      return {
        id,
        role: 'user',
        text_preview: '',
        content,
        attachments: [],
        run_id: null,
        created_at: '2026-03-01T22:30:00Z',
      };
    });
    return { session_id: sessionId(1), items, has_more: before - count > 1, next_before_id: before - count };
  });
  const view = open();
  view.press('3');
  await view.until('Message 120.');
  await waitFor(() => {
    view.press('g');
    return view.screen().includes('Message 1.\n');
  });
  view.press('G');
  await view.until('Message 120.');
});

const SUMMARY = {
  session_id: sessionId(1),
  title: 'As it is',
  status: 'running',
  message_count: 1,
  run_count: 1,
  tool_execution_count: 0,
  artifact_count: 0,
  total_cost_usd: 0,
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  duration_ms: 0,
  first_message_preview: null,
  last_message_preview: null,
  last_error: null,
};

const STEP = { step: 1, text_preview: '', calls: [] };

test('a read that fails is tried again, and a slow one is not doubled', async () => {
  const { server, open, numbered, reads } = await watch();
  const view = open();
  await view.until('line 3.');
  view.press('7');
  await view.until('It is not well.');
  server.ofSession.set('summary', SUMMARY);
  await view.until('As it is');
  const before = reads('summary');
  server.delayMs = 4_500;
  server.emit(numbered('run.step', STEP));
  await waitFor(() => reads('summary') === before + 1);
  server.emit(numbered('run.step', STEP));
  // Once it has been answered, the next may come.
  const asked: number[] = [];
  server.ofSession.set('summary', () => {
    asked.push(reads('summary'));
    return { ...SUMMARY, title: 'As it was later' };
  });
  await view.until('As it was later');
  expect(asked[0]).toBe(before + 1);
});

test('d saves the chosen file at an address of now, and says what became of it', async () => {
  const { server, open } = await watch();
  const directory = mkdtempSync(join(tmpdir(), 'errand-desk-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  vi.spyOn(process, 'cwd').mockReturnValue(directory);
  onTestFinished(() => void vi.restoreAllMocks());
  let signed = 0;
  server.ofSession.set('workspace/files', () => {
    signed += 1;
    server.files.clear();
    server.files.set(`/files/${signed}`, 'Tides.');
    const url = `${server.url()}/files/${signed}`;
    const node = { type: 'file', children: null, url, downloadUrl: null, mimeType: null, oss_status: null };
    return [{ ...node, id: 'r', name: 'report.md', path: '/report.md', oss_meta: { size: 6, sha256: '' } }];
  });
  const view = open();
  view.press('4');
  await view.until('report.md');
  view.press('d');
  await view.until(`Saved ${directory}`);
  expect(readFileSync(join(directory, 'report.md'), 'utf8')).toBe('Tides.');
  view.press('d');
  await view.until('Nothing was saved.');
  server.ofSession.set('workspace/files', []);
  view.press('d');
  await view.until('report.md is gone');
});
