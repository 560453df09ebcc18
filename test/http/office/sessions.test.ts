// What administrators read of one session, over HTTP and a real store (§2.14, §4.8).
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Catalog, CatalogModel } from '../../../src/catalog/kinds/models.ts';
import { makeEmptyArchives } from '../../../src/execution/artifacts/empty-archives.ts';
import { makeFileAddresses } from '../../../src/files/file-address.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeLooking } from '../../../src/operations/looking.ts';
import { makeOfficeOperations } from '../../../src/operations/office/office.ts';
import type { ClaimedRun } from '../../../src/store/runs/claim-runs.ts';
import { type ArtifactHouse, artifactHouse } from '../../support/files/artifact-house.ts';
import { auditOf } from '../../support/store/audit.ts';
import { type House, openHouse, send } from '../../support/http/http-house.ts';
import { aStep, fenceOf } from '../../support/store/store-house.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const BASE = '/api/v1/office-mode';
const AT = '2026-03-01T12:00:00.000Z';
const MODEL = {
  name: 'scripted',
  price: { inputPerMillionUsd: 100, outputPerMillionUsd: 500, cacheReadPerMillionUsd: 0, cacheWritePerMillionUsd: 0 },
};

let rows: ArtifactHouse;
let house: House;
let addresses: ReturnType<typeof makeFileAddresses>;
let catalog: Catalog;

beforeEach(async () => {
  const model = { contextWindow: 8_192 } as CatalogModel;
  catalog = { endpoints: new Map(), models: new Map([['scripted', model]]), scenarios: new Map(), defaultScenario: '' };
  rows = await artifactHouse();
  const secret = randomBytes(32);
  addresses = makeFileAddresses({ deriveKey: () => secret, publicUrl: () => 'http://errand', now: rows.clock.now });
  const { store, clock } = rows;
  const operations = makeOfficeOperations({
    store,
    clock,
    looking: makeLooking({ access: makeAccess(store), audit: auditOf({ store }) }),
    catalog: () => catalog,
    fileAddresses: addresses,
    emptyArchives: makeEmptyArchives(rows.parts),
  });
  house = await openHouse({ operations });
});

const get = (path: string, as = 'admin-key') => send(house, { path: `${BASE}${path}`, as });
const data = async (path: string) => {
  const { status, json } = await get(path);
  expect([path, status, json]).toMatchObject([path, 200, { code: 0 }]);
  return (json as { data: unknown }).data;
};

/** A finished run that said something, used two tools and wrote a file; its session. */
async function finished(): Promise<ClaimedRun> {
  const { store, clock } = rows;
  const team = await store.teams.create({ name: 'Blue', budgetUsd: 9 });
  await store.users.change('mara', { teamId: team.id });
  const run = await rows.begin();
  const fence = fenceOf(run);
  const calls = [
    { id: 'call_1', name: 'shell', input: { command: 'make' } },
    { id: 'call_2', name: 'write_file', input: { path: 'a.txt' } },
  ];
  clock.advance(1_500);
  await store.runs.recordStep({ ...fence, workedMs: 1_500 }, aStep({ text: 'I begin.', calls }), MODEL);
  for (const [index, { id: toolUseId, name }] of calls.entries()) {
    const result = { step: 1, toolUseId, name, ok: index === 1, output: `out ${index}`, durationMs: 20 };
    await store.runs.recordToolResult(fence, result);
  }
  clock.advance(1_000);
  await store.runs.recordStep({ ...fence, workedMs: 2_500 }, aStep({ step: 2, text: 'Done.' }), MODEL);
  rows.write(run, { 'site/a.txt': 'hello' });
  await rows.end(run, { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' });
  return run;
}

/** Another run of its session, at its first tool call. */
async function working({ sessionId }: ClaimedRun): Promise<ClaimedRun> {
  rows.clock.advance(60_000);
  const run = await rows.begin(sessionId);
  const calls = [
    { id: 'call_1', name: 'shell', input: { command: 'python plot.py' } },
    { id: 'call_9', name: 'shell', input: {} },
  ];
  await rows.store.runs.recordStep(fenceOf(run), aStep({ calls }), MODEL);
  return run;
}

/** A run of its session, or of a new one, that has failed. */
async function failed({ sessionId }: { readonly sessionId: string | null }): Promise<ClaimedRun> {
  const run = await rows.begin(sessionId);
  const error = { type: 'api_error', message: 'The model is gone.', retryable: true } as const;
  await rows.end(run, { outcome: 'failed', error });
  return run;
}

/** Waits until its session's files and archives are there. */
async function collected(run: ClaimedRun): Promise<void> {
  rows.collect().wake(run.sessionSeq);
  await waitFor(async () => (await rows.exportOf(run)).status === 'ready');
}

const ENDED = '2026-03-01T12:00:02.500Z';

test('detail has sums, every message and every run, oldest first', async () => {
  const first = await finished();
  const second = await working(first);
  rows.clock.advance(7_000);
  expect(await data(`/sessions/${first.sessionId}/detail`)).toEqual({
    session_id: first.sessionId,
    session_title: 'Tides',
    session_status: 'running',
    total_cost_usd: expect.closeTo(0.009, 9) as number,
    total_tokens: 42,
    message_count: 3,
    artifact_count: 0,
    messages: [
      { id: 1, role: 'user', text_preview: 'Tell me of tides.', created_at: AT },
      { id: 2, role: 'assistant', text_preview: 'I begin. Done.', created_at: ENDED },
      { id: 3, role: 'user', text_preview: 'Tell me of tides.', created_at: '2026-03-01T12:01:02.500Z' },
    ],
    runs: [
      {
        run_id: first.id,
        status: 'completed',
        progress: 100,
        started_at: AT,
        finished_at: ENDED,
        elapsed_seconds: 2,
        total_cost_usd: expect.closeTo(0.006, 9) as number,
      },
      {
        run_id: second.id,
        status: 'running',
        progress: 14,
        started_at: '2026-03-01T12:01:02.500Z',
        finished_at: null,
        elapsed_seconds: 7,
        total_cost_usd: expect.closeTo(0.003, 9) as number,
      },
    ],
  });
});

test('detail of a long session has all of it', async () => {
  const first = await rows.begin();
  await rows.end(first);
  for (let more = 0; more < 210; more += 1) await rows.end(await rows.begin(first.sessionId));
  const found = (await data(`/sessions/${first.sessionId}/detail`)) as { messages: { id: number }[]; runs: unknown[] };
  expect([found.messages.length, found.runs.length]).toEqual([422, 211]);
  expect(found.messages.map(({ id }) => id)).toEqual(Array.from({ length: 422 }, (_, index) => index + 1));
});

test('a session has its owner, team and current run, and what failed last', async () => {
  const first = await finished();
  const { teamId } = await rows.store.users.get('mara');
  const basics = {
    session_id: first.sessionId,
    title: 'Tides',
    kind: 'api',
    project_id: null,
    user_id: rows.user.id,
    username: 'mara',
    full_name: 'Mara Vogt',
    team_id: teamId,
    team_name: 'Blue',
    created_at: AT,
  };
  expect(await data(`/sessions/${first.sessionId}`)).toEqual({
    ...basics,
    status: 'completed',
    updated_at: ENDED,
    current_run: null,
    last_error: null,
  });
  await failed(first);
  const second = await working(first);
  await rows.accept({ sessionId: first.sessionId });
  expect(await data(`/sessions/${first.sessionId}`)).toEqual({
    ...basics,
    status: 'running',
    updated_at: '2026-03-01T12:01:02.500Z',
    current_run: { run_id: second.id, status: 'running', progress: 14, started_at: '2026-03-01T12:01:02.500Z' },
    last_error: 'The model is gone.',
  });
});

test('a summary counts messages, runs, finished tool calls and files, and the time at work', async () => {
  const first = await finished();
  await collected(first);
  await working(first);
  await failed({ sessionId: null });
  expect(await data(`/sessions/${first.sessionId}/summary`)).toEqual({
    session_id: first.sessionId,
    title: 'Tides',
    status: 'running',
    message_count: 3,
    run_count: 2,
    tool_execution_count: 2,
    artifact_count: 1,
    total_cost_usd: expect.closeTo(0.009, 9) as number,
    input_tokens: 30,
    output_tokens: 12,
    total_tokens: 42,
    duration_ms: 2_500,
    first_message_preview: 'Tell me of tides.',
    last_message_preview: 'Tell me of tides.',
    last_error: null,
  });
});

describe('messages with files', () => {
  const attachment = {
    id: 'f1',
    name: 'a.csv',
    path: 'attachments/f1/a.csv',
    mimeType: 'text/csv',
    size: 3,
    sha256: 'ab',
  };

  test('have what was said and done, and what was attached', async () => {
    const first = await finished();
    await rows.accept({
      sessionId: first.sessionId,
      content: [
        { type: 'text', text: 'See this.' },
        { type: 'attachment', attachmentId: 'f1', media: 'file' },
      ],
      preview: 'See this.',
      attachments: [attachment],
    });
    const found = (await data(`/sessions/${first.sessionId}/messages-with-files`)) as { items: { run_id: string }[] };
    const { sha256, size, name, path, id } = attachment;
    expect(found).toEqual({
      session_id: first.sessionId,
      items: [
        {
          id: 1,
          role: 'user',
          text_preview: 'Tell me of tides.',
          content: { _type: 'UserMessage', content: [{ type: 'text', text: 'Tell me of tides.' }] },
          attachments: [],
          run_id: first.id,
          created_at: AT,
        },
        {
          id: 2,
          role: 'assistant',
          text_preview: 'I begin. Done.',
          content: {
            _type: 'AssistantMessage',
            content: [
              { type: 'text', text: 'I begin.' },
              { type: 'tool_use', id: 'call_1', name: 'shell', input: { command: 'make' } },
              { type: 'tool_use', id: 'call_2', name: 'write_file', input: { path: 'a.txt' } },
              { type: 'tool_result', tool_use_id: 'call_1', is_error: true, content: 'out 0' },
              { type: 'tool_result', tool_use_id: 'call_2', is_error: false, content: 'out 1' },
              { type: 'text', text: 'Done.' },
            ],
          },
          attachments: [],
          run_id: first.id,
          created_at: ENDED,
        },
        {
          id: 3,
          role: 'user',
          text_preview: 'See this.',
          content: {
            _type: 'UserMessage',
            content: [
              { type: 'text', text: 'See this.' },
              { type: 'file', attachment_id: 'f1', file_name: 'a.csv', path },
            ],
          },
          attachments: [{ id, name, path, mime_type: 'text/csv', size, sha256 }],
          run_id: found.items[2]!.run_id,
          created_at: ENDED,
        },
      ],
      has_more: false,
      next_before_id: null,
    });
  });

  test('come the newest page first, ascending inside, and lead on to the past', async () => {
    const { sessionId } = await rows.begin();
    for (let more = 0; more < 4; more += 1) await rows.accept({ sessionId });
    const page = async (query: string) => {
      const path = `/sessions/${sessionId}/messages-with-files${query}`;
      const found = (await data(path)) as { items: { id: number }[]; has_more: boolean; next_before_id: number | null };
      return [found.items.map(({ id }) => id), found.has_more, found.next_before_id];
    };
    expect(await page('?limit=2')).toEqual([[4, 5], true, 4]);
    expect(await page('?limit=2&before_id=4')).toEqual([[2, 3], true, 2]);
    expect(await page('?limit=2&before_id=2')).toEqual([[1], false, null]);
    expect(await page('?limit=5')).toEqual([[1, 2, 3, 4, 5], false, null]);
    expect(await page('?before_id=1')).toEqual([[], false, null]);
    expect(await page('?before_id=999&unknown=x')).toEqual([[1, 2, 3, 4, 5], false, null]);
  });

  test('a page of very long ones ends early', async () => {
    const content = [{ type: 'text', text: 'x'.repeat(3 * 1024 * 1024) }] as const;
    const { sessionId } = await rows.accept({ content });
    for (let more = 0; more < 4; more += 1) await rows.accept({ sessionId, content });
    const page = await data(`/sessions/${sessionId}/messages-with-files`);
    expect(page).toMatchObject({ items: [{ id: 3 }, { id: 4 }, { id: 5 }], has_more: true, next_before_id: 3 });
  });
});

describe('runs of a session', () => {
  test('are rows with all that is shown of a run, the newest first', async () => {
    const first = await finished();
    await collected(first);
    const second = await working(first);
    const { teamId } = await rows.store.users.get('mara');
    const shared = {
      kind: 'session-run',
      title: 'Tides',
      subtitle: 'Mara Vogt · Blue',
      team_id: teamId,
      team_name: 'Blue',
      session_id: first.sessionId,
      session_title: 'Tides',
      user_id: rows.user.id,
      username: 'mara',
      full_name: 'Mara Vogt',
      last_error: null,
      message_count: 3,
      artifact_count: 1,
      can_view_conversation: true,
      conversation_access_mode: 'admin_readonly',
    };
    rows.clock.advance(3_000);
    expect(await data(`/office-runs/session/${first.sessionId}`)).toEqual({
      session_id: first.sessionId,
      items: [
        {
          ...shared,
          id: second.id,
          run_id: second.id,
          status: 'running',
          meta: '14 tokens · $0.003 · 0 tools',
          progress: 14,
          detail: 'shell: python plot.py',
          started_at: '2026-03-01T12:01:02.500Z',
          finished_at: null,
          updated_at: '2026-03-01T12:01:02.500Z',
          elapsed_seconds: 3,
          total_cost_usd: expect.closeTo(0.003, 9) as number,
          total_tokens: 14,
        },
        {
          ...shared,
          id: first.id,
          run_id: first.id,
          status: 'completed',
          meta: '28 tokens · $0.006 · 2 tools',
          progress: 100,
          detail: null,
          started_at: AT,
          finished_at: ENDED,
          updated_at: ENDED,
          elapsed_seconds: 2,
          total_cost_usd: expect.closeTo(0.006, 9) as number,
          total_tokens: 28,
        },
      ],
      total: 2,
      limit: 100,
      offset: 0,
    });
    expect(await data(`/office-runs/session/${first.sessionId}?limit=1&offset=1`)).toMatchObject({
      items: [{ run_id: first.id }],
      total: 2,
      limit: 1,
      offset: 1,
    });
    expect(await data(`/office-runs/session/${first.sessionId}?offset=2`)).toMatchObject({ items: [], total: 2 });
  });

  const rowsOf = async ({ sessionId }: { readonly sessionId: string }) =>
    ((await data(`/office-runs/session/${sessionId}`)) as { items: Record<string, unknown>[] }).items;

  test('a run without a team is unassigned, and one of a nameless user is shown by the username', async () => {
    await rows.store.users.change('mara', { fullName: '' });
    const run = await rows.accept();
    expect(await rowsOf(run)).toMatchObject([
      {
        subtitle: 'mara · Unassigned',
        team_id: '__unassigned__',
        team_name: 'Unassigned',
        status: 'pending',
        progress: 0,
        detail: 'waits for its turn',
        meta: '0 tokens · $0.00 · 0 tools',
        started_at: null,
        elapsed_seconds: 0,
      },
    ]);
    expect(await data(`/sessions/${run.sessionId}`)).toMatchObject({
      team_id: '__unassigned__',
      team_name: 'Unassigned',
    });
  });

  test('a run keeps the team of its acceptance, and a session has that of its newest run', async () => {
    const run = await finished();
    const red = await rows.store.teams.create({ name: 'Red', budgetUsd: null });
    await rows.store.users.change('mara', { teamId: red.id });
    expect(await rowsOf(run)).toMatchObject([{ team_name: 'Blue' }]);
    const teamOfSession = async () => {
      const { recent } = await rows.store.office.getSnapshot({ limit: 1, since: 0 });
      const session = (await data(`/sessions/${run.sessionId}`)) as { team_name: string };
      return [session.team_name, recent[0]!.teamName];
    };
    expect(await teamOfSession()).toEqual(['Blue', 'Blue']);
    await working(run);
    expect(await rowsOf(run)).toMatchObject([{ team_name: 'Red' }, { team_name: 'Blue' }]);
    expect(await teamOfSession()).toEqual(['Red', 'Red']);
  });

  test('what a run does is shown until it is over', async () => {
    const run = await rows.begin();
    expect(await rowsOf(run)).toMatchObject([{ detail: 'thinks', progress: 5 }]);
    const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1_000 };
    const calls = [{ id: 'q', name: 'ask_user', input: { question: 'Which?' } }];
    await rows.store.runs.recordStep(fenceOf(run), aStep({ calls }), MODEL);
    await rows.store.runs.waitForUser(fenceOf(run), question);
    expect(await rowsOf(run)).toMatchObject([{ detail: 'waits for Mara Vogt', status: 'running' }]);
    const { stopRun } = rows.store.runs;
    await stopRun({ sessionSeq: run.sessionSeq, runSeq: run.seq }, 'user_requested_stop');
    expect(await rowsOf(run)).toMatchObject([{ detail: null, status: 'idle', progress: 100 }]);
  });

  test('a failed run has its error', async () => {
    const run = await failed({ sessionId: null });
    expect(await rowsOf(run)).toMatchObject([{ last_error: 'The model is gone.', status: 'failed' }]);
  });

  test('one’s own are one’s own', async () => {
    // The house's identities are this user.
    const own = { ...rows.user, id: '0198c0de-0000-7000-8000-000000000001' };
    const { default: Connection } = await import('better-sqlite3');
    const file = new Connection(rows.file);
    file.prepare('UPDATE users SET id = ? WHERE seq = ?').run(own.id, own.seq);
    file.close();
    expect(await rowsOf(await rows.begin())).toMatchObject([{ conversation_access_mode: 'owner' }]);
  });
});

describe('rounds', () => {
  test('have what was asked, done and answered, the first one first', async () => {
    const first = await finished();
    const second = await working(first);
    expect(await data(`/sessions/${first.sessionId}/run-rounds`)).toEqual({
      session_id: first.sessionId,
      items: [
        {
          round_no: 1,
          run_id: first.id,
          status: 'completed',
          user_message: 'Tell me of tides.',
          assistant_message: 'Done.',
          tools: [
            { tool_use_id: 'call_1', name: 'shell', status: 'failed', duration_ms: 20 },
            { tool_use_id: 'call_2', name: 'write_file', status: 'completed', duration_ms: 20 },
          ],
          input_tokens: 20,
          output_tokens: 8,
          cost_usd: expect.closeTo(0.006, 9) as number,
          started_at: AT,
          finished_at: ENDED,
        },
        {
          round_no: 2,
          run_id: second.id,
          status: 'running',
          user_message: 'Tell me of tides.',
          assistant_message: 'The moon pulls.',
          tools: [
            { tool_use_id: 'call_1', name: 'shell', status: 'running', duration_ms: null },
            { tool_use_id: 'call_9', name: 'shell', status: 'waiting', duration_ms: null },
          ],
          input_tokens: 10,
          output_tokens: 4,
          cost_usd: expect.closeTo(0.003, 9) as number,
          started_at: '2026-03-01T12:01:02.500Z',
          finished_at: null,
        },
      ],
      total: 2,
      limit: 100,
      offset: 0,
    });
  });

  test('keep their numbers on every page', async () => {
    const { sessionId } = await rows.begin();
    for (let more = 0; more < 44; more += 1) await rows.accept({ sessionId });
    const page = async (query: string) => {
      const found = await data(`/sessions/${sessionId}/run-rounds${query}`);
      const { items, ...rest } = found as { items: { round_no: number; assistant_message: string | null }[] };
      return { numbers: items.map(({ round_no }) => round_no), ...rest };
    };
    const numbers = Array.from({ length: 45 }, (_, index) => index + 1);
    expect(await page('')).toMatchObject({ numbers, total: 45 });
    expect(await page('?limit=30&offset=10')).toMatchObject({ numbers: numbers.slice(10, 40), limit: 30, offset: 10 });
    expect(await page('?limit=40')).toMatchObject({ numbers: numbers.slice(0, 40) });
    expect(await page('?offset=45')).toMatchObject({ numbers: [], total: 45 });
  });

  test('a round with nothing said yet has null, and long texts are cut', async () => {
    const long = '🌊'.repeat(5_000);
    const run = await rows.accept({ content: [{ type: 'text', text: long }], preview: '🌊' });
    await rows.accept({ sessionId: run.sessionId, content: [{ type: 'text', text: long.repeat(9) }], preview: '🌊' });
    const [claimed] = await rows.claim();
    await rows.store.runs.recordStep(fenceOf(claimed!), aStep({ text: long }), MODEL);
    const { items } = (await data(`/sessions/${run.sessionId}/run-rounds`)) as { items: Record<string, string>[] };
    expect(items[0]!['user_message']).toBe('🌊'.repeat(2_000));
    expect(items[0]!['assistant_message']).toBe('🌊'.repeat(4_000));
    expect(items[1]).toMatchObject({ user_message: '🌊', assistant_message: null });
  });
});

describe('the context', () => {
  const of = ({ sessionId }: { readonly sessionId: string }) => data(`/sessions/${sessionId}/context-usage`);

  test('is that of the last model call, and its parts add up', async () => {
    const first = await finished();
    const second = await working(first);
    await rows.accept({ sessionId: first.sessionId });
    const context = { system: 300, history: 1_250, tools: 73 };
    await rows.store.runs.recordStep(fenceOf(second), aStep({ step: 2, context }), MODEL);
    expect(await of(first)).toEqual({
      session_id: first.sessionId,
      model: 'scripted',
      context_window: 8_192,
      used_tokens: 1_623,
      used_percent: 19.8,
      parts: context,
    });
  });

  test('is empty before the first call', async () => {
    const run = await rows.begin();
    const parts = { system: 0, history: 0, tools: 0 };
    const nothing = { model: null, context_window: null, used_tokens: 0, used_percent: 0, parts };
    expect(await of(run)).toEqual({ session_id: run.sessionId, ...nothing });
  });

  test('of a call that an earlier Errand kept is history', async () => {
    const run = await rows.begin();
    await rows.store.runs.recordStep(fenceOf(run), aStep({ context: { system: 0, history: 0, tools: 0 } }), MODEL);
    expect(await of(run)).toMatchObject({ used_tokens: 10, parts: { system: 0, history: 10, tools: 0 } });
  });

  test('of a model that the catalog no longer has has no window', async () => {
    catalog = { ...catalog, models: new Map() };
    expect(await of(await finished())).toMatchObject({ model: 'scripted', context_window: null, used_percent: 0 });
  });
});

describe('the workspace', () => {
  test('is empty and has no archive until its export is ready', async () => {
    const run = await finished();
    expect(await data(`/sessions/${run.sessionId}/workspace/files`)).toEqual([]);
    const filename = `workspace-${run.sessionId}.zip`;
    expect((await get(`/sessions/${run.sessionId}/workspace/archive`)).json).toEqual({
      code: 0,
      message: 'The workspace export is not ready.',
      data: { url: null, filename },
    });
    await collected(run);
    const [folder] = (await data(`/sessions/${run.sessionId}/workspace/files`)) as { children: object[] }[];
    expect(folder).toMatchObject({ name: 'site', type: 'folder', path: '/site' });
    expect(folder!.children).toMatchObject([
      {
        name: 'a.txt',
        type: 'file',
        path: '/site/a.txt',
        children: null,
        mimeType: 'text/plain',
        oss_meta: { size: 5 },
      },
    ]);
    const ready = await get(`/sessions/${run.sessionId}/workspace/archive`);
    const { url } = (ready.json as { data: { url: string } }).data;
    expect(ready.json).toEqual({ code: 0, message: 'ok', data: { url, filename } });
    expect(addresses.verify(url.slice('http://errand'.length))).toMatchObject({ name: filename });
    const { downloadUrl } = folder!.children[0] as { downloadUrl: string };
    const { key } = addresses.verify(downloadUrl.slice('http://errand'.length));
    expect((await rows.blobs.read(key)).toString()).toBe('hello');
  });

  test('of a session that never ran is the same', async () => {
    const { sessionId } = await rows.accept();
    expect(await data(`/sessions/${sessionId}/workspace/files`)).toEqual([]);
    expect(await data(`/sessions/${sessionId}/workspace/archive`)).toMatchObject({ url: null });
  });
});

describe('pictures of the browser', () => {
  const keep = async (run: ClaimedRun, toolUseId: string, bytes: string, mimeType = 'image/png') => {
    const hold = rows.blobs.hold();
    const sha256 = await hold.put(Buffer.from(bytes));
    await rows.store.screenshots.keep(fenceOf(run), { toolUseId, sha256, mimeType, size: bytes.length });
    hold.release();
  };

  test('are found by tool use, the newest of the session, and lead to their bytes', async () => {
    const first = await rows.begin();
    await keep(first, 'call-1_A', 'old');
    await rows.end(first);
    const second = await rows.begin(first.sessionId);
    await keep(second, 'call-1_A', 'new', 'image/jpeg');
    const other = await rows.begin();
    await keep(other, 'call-1_A', 'of another session');
    const picture = await data(`/sessions/${first.sessionId}/computer/browser/call-1_A`);
    const { url } = picture as { url: string };
    expect(picture).toEqual({ url, filename: 'call-1_A.jpg' });
    const grant = addresses.verify(url.slice('http://errand'.length));
    expect(grant).toMatchObject({ name: 'call-1_A.jpg', disposition: 'inline', sessionId: first.sessionId });
    expect((await rows.blobs.read(grant.key)).toString()).toBe('new');
  });

  test.each(['none', 'a.b', 'a%2Fb', 'a%20b', '%C3%BC', '..%2f..', "a'b"])('%s is not found', async (id) => {
    const run = await rows.begin();
    await keep(run, 'a.b', 'picture');
    expect((await get(`/sessions/${run.sessionId}/computer/browser/${id}`)).status).toBe(404);
  });
});

const PATHS = [
  '/sessions/ID',
  '/sessions/ID/detail',
  '/sessions/ID/summary',
  '/sessions/ID/messages-with-files',
  '/office-runs/session/ID',
  '/sessions/ID/run-rounds',
  '/sessions/ID/context-usage',
  '/sessions/ID/computer/browser/x',
  '/sessions/ID/workspace/files',
  '/sessions/ID/workspace/archive',
];

describe.each(PATHS)('%s', (path) => {
  const of = (id: string) => path.replace('ID', id);

  test('takes an id in capitals', async () => {
    const run = await rows.begin();
    expect((await get(of(run.sessionId.toUpperCase()))).status).toBe(path.includes('browser') ? 404 : 200);
  });

  test('is recorded before it is answered', async () => {
    const { sessionId } = await rows.begin();
    await get(of(sessionId));
    expect(rows.rows('SELECT username, action, target_id AS id FROM audit_entries')).toEqual([
      { username: 'mara', action: 'session.read', id: sessionId },
    ]);
  });
});

test.each([
  ['/office-runs/session/ID', 500],
  ['/sessions/ID/run-rounds', 500],
  ['/sessions/ID/messages-with-files', 200],
])('a page of %s may have %i', async (path, most) => {
  const { sessionId } = await rows.begin();
  expect((await get(`${path.replace('ID', sessionId)}?limit=${most}`)).status).toBe(200);
});
