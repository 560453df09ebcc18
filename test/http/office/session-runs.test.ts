// The runs of a session, as administrators read them (§2.14, §4.8).
import { beforeEach, describe, expect, test } from 'vitest';
import { AT, ENDED, MODEL, type OfficeSessions, officeSessions } from '../../support/http/office-sessions.ts';
import { aStep, fenceOf } from '../../support/store/store-fixture.ts';

let at: OfficeSessions;
beforeEach(async () => {
  at = await officeSessions();
});

describe('runs of a session', () => {
  test('are rows with all that is shown of a run, the newest first', {
    tags: ['§2.14-shapes', 'G5', 'G15'],
  }, async () => {
    const first = await at.finished();
    await at.collected(first);
    const second = await at.working(first);
    const { teamId } = await at.rows.store.users.get('mara');
    const shared = {
      kind: 'session-run',
      title: 'Tell me of tides.',
      subtitle: 'Mara Vogt · Blue',
      team_id: teamId,
      team_name: 'Blue',
      session_id: first.sessionId,
      session_title: 'Tides',
      user_id: at.rows.user.id,
      username: 'mara',
      full_name: 'Mara Vogt',
      last_error: null,
      message_count: 3,
      artifact_count: 1,
      can_view_conversation: true,
      conversation_access_mode: 'admin_readonly',
    };
    at.rows.clock.advance(3_000);
    expect(await at.data(`/office-runs/session/${first.sessionId}`)).toEqual({
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
          model_wait: null,
          node: null,
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
          model_wait: null,
          node: null,
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
    expect(await at.data(`/office-runs/session/${first.sessionId}?limit=1&offset=1`)).toMatchObject({
      items: [{ run_id: first.id }],
      total: 2,
      limit: 1,
      offset: 1,
    });
    expect(await at.data(`/office-runs/session/${first.sessionId}?offset=2`)).toMatchObject({ items: [], total: 2 });
  });

  const rowsOf = async ({ sessionId }: { readonly sessionId: string }) =>
    ((await at.data(`/office-runs/session/${sessionId}`)) as { items: Record<string, unknown>[] }).items;

  test('a run without a team is unassigned, and one of a nameless user is shown by the username', {
    tags: ['G19'],
  }, async () => {
    await at.rows.store.users.change('mara', { fullName: '' });
    const run = await at.rows.accept();
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
    expect(await at.data(`/sessions/${run.sessionId}`)).toMatchObject({
      team_id: '__unassigned__',
      team_name: 'Unassigned',
    });
  });

  test('a run keeps the team of its acceptance, and a session has that of its newest run', {
    tags: ['§4.8-rule-2'],
  }, async () => {
    const run = await at.finished();
    const red = await at.rows.store.teams.create({ name: 'Red', budgetUsd: null });
    await at.rows.store.users.change('mara', { teamId: red.id });
    expect(await rowsOf(run)).toMatchObject([{ team_name: 'Blue' }]);
    const teamOfSession = async () => {
      const { recent } = await at.rows.store.office.getSnapshot({ limit: 1, since: 0 });
      const session = (await at.data(`/sessions/${run.sessionId}`)) as { team_name: string };
      return [session.team_name, recent[0]!.teamName];
    };
    expect(await teamOfSession()).toEqual(['Blue', 'Blue']);
    await at.working(run);
    expect(await rowsOf(run)).toMatchObject([{ team_name: 'Red' }, { team_name: 'Blue' }]);
    expect(await teamOfSession()).toEqual(['Red', 'Red']);
  });

  test('what a run does is shown until it is over', { tags: ['G15'] }, async () => {
    const run = await at.rows.begin();
    expect(await rowsOf(run)).toMatchObject([{ detail: 'thinks', progress: 5 }]);
    const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1_000 };
    const calls = [{ id: 'q', name: 'ask_user', input: { question: 'Which?' } }];
    await at.rows.store.runs.recordStep(fenceOf(run), aStep({ calls }), MODEL);
    await at.rows.store.runs.waitForUser(fenceOf(run), question);
    expect(await rowsOf(run)).toMatchObject([{ detail: 'waits for Mara Vogt: Which?', status: 'running' }]);
    const { stopRun } = at.rows.store.runs;
    await stopRun({ sessionSeq: run.sessionSeq, runSeq: run.seq }, 'user_requested_stop');
    expect(await rowsOf(run)).toMatchObject([{ detail: null, status: 'idle', progress: 100 }]);
  });

  test('a run that waits for its model shows for which, and since when, until it replies or the run ends', async () => {
    const run = await at.rows.begin();
    const { appendStream, stopRun } = at.rows.store.runs;
    const of = { model: 'big', agent: 'scout' };
    const started = { ...of, message: 'It is down.', patienceMs: 120_000 };
    const begins = () => appendStream(fenceOf(run), [{ type: 'model_wait.started', payload: started }]);
    await begins();
    const since = new Date(at.rows.clock.now()).toISOString();
    at.rows.clock.advance(90_500);
    const model_wait = { ...of, since, waited_seconds: 90, message: 'It is down.' };
    expect(await rowsOf(run)).toMatchObject([{ detail: 'waits for the model big', status: 'running', model_wait }]);
    const ended = { ...of, answered: true, waitedMs: 90_500 };
    await appendStream(fenceOf(run), [{ type: 'model_wait.ended', payload: ended }]);
    expect(await rowsOf(run)).toMatchObject([{ detail: 'thinks', model_wait: null }]);
    await begins();
    await stopRun({ sessionSeq: run.sessionSeq, runSeq: run.seq }, 'user_requested_stop');
    expect(await rowsOf(run)).toMatchObject([{ detail: null, model_wait: null }]);
  });

  test('a failed run has its error', { tags: ['G15'] }, async () => {
    const run = await at.failed({ sessionId: null });
    expect(await rowsOf(run)).toMatchObject([{ last_error: 'The model is gone.', status: 'failed' }]);
  });

  test('one’s own are one’s own', { tags: ['G14'] }, async () => {
    // The installation's identities are this user.
    const own = { ...at.rows.user, id: '0198c0de-0000-7000-8000-000000000001' };
    const { default: Connection } = await import('better-sqlite3');
    const file = new Connection(at.rows.file);
    file.prepare('UPDATE users SET id = ? WHERE seq = ?').run(own.id, own.seq);
    file.close();
    expect(await rowsOf(await at.rows.begin())).toMatchObject([{ conversation_access_mode: 'owner' }]);
  });
});
