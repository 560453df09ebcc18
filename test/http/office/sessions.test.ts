// What administrators read of one session, over HTTP and a real store (§2.14, §4.8).
import { beforeEach, describe, expect, test } from 'vitest';
import { AT, ENDED, type OfficeSessions, officeSessions } from '../../support/http/office-sessions.ts';

let at: OfficeSessions;
beforeEach(async () => {
  at = await officeSessions();
});

test('detail has sums, every message and every run, oldest first', { tags: ['§2.14-shapes'] }, async () => {
  const first = await at.finished();
  const second = await at.working(first);
  at.rows.clock.advance(7_000);
  expect(await at.data(`/sessions/${first.sessionId}/detail`)).toEqual({
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

test('detail of a long session has all of it', { tags: ['G23'] }, async () => {
  const first = await at.rows.begin();
  await at.rows.end(first);
  for (let more = 0; more < 210; more += 1) await at.rows.end(await at.rows.begin(first.sessionId));
  const found = (await at.data(`/sessions/${first.sessionId}/detail`)) as {
    messages: { id: number }[];
    runs: unknown[];
  };
  expect([found.messages.length, found.runs.length]).toEqual([422, 211]);
  expect(found.messages.map(({ id }) => id)).toEqual(Array.from({ length: 422 }, (_, index) => index + 1));
});

test('a session has its owner, team and current run, and what failed last', { tags: ['G2', 'G23'] }, async () => {
  const first = await at.finished();
  const { teamId } = await at.rows.store.users.get('mara');
  const basics = {
    session_id: first.sessionId,
    title: 'Tides',
    kind: 'api',
    project_id: null,
    user_id: at.rows.user.id,
    username: 'mara',
    full_name: 'Mara Vogt',
    team_id: teamId,
    team_name: 'Blue',
    created_at: AT,
  };
  expect(await at.data(`/sessions/${first.sessionId}`)).toEqual({
    ...basics,
    status: 'completed',
    updated_at: ENDED,
    current_run: null,
    last_error: null,
  });
  await at.failed(first);
  const second = await at.working(first);
  await at.rows.accept({ sessionId: first.sessionId });
  expect(await at.data(`/sessions/${first.sessionId}`)).toEqual({
    ...basics,
    status: 'running',
    updated_at: '2026-03-01T12:01:02.500Z',
    current_run: { run_id: second.id, status: 'running', progress: 14, started_at: '2026-03-01T12:01:02.500Z' },
    last_error: 'The model is gone.',
  });
});

test('a summary counts messages, runs, finished tool calls and files, and the time at work', {
  tags: ['G4', 'G20'],
}, async () => {
  const first = await at.finished();
  await at.collected(first);
  await at.working(first);
  await at.failed({ sessionId: null });
  expect(await at.data(`/sessions/${first.sessionId}/summary`)).toEqual({
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
    const run = await at.rows.begin();
    expect((await at.get(of(run.sessionId.toUpperCase()))).status).toBe(path.includes('browser') ? 404 : 200);
  });

  test('is recorded before it is answered', { tags: ['G10'] }, async () => {
    const { sessionId } = await at.rows.begin();
    await at.get(of(sessionId));
    expect(at.rows.rows('SELECT username, action, target_id AS id FROM audit_entries')).toEqual([
      { username: 'mara', action: 'session.read', id: sessionId },
    ]);
  });
});

test.each([
  ['/office-runs/session/ID', 500],
  ['/sessions/ID/run-rounds', 500],
  ['/sessions/ID/messages-with-files', 200],
])('a page of %s may have %i', { tags: ['§4.8-ranges', '§8-office-mode'] }, async (path, most) => {
  const { sessionId } = await at.rows.begin();
  expect((await at.get(`${path.replace('ID', sessionId)}?limit=${most}`)).status).toBe(200);
});
