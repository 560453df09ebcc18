// What the commands about sessions, runs and the queue send, and how they show the replies.
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { type Received, run, start, startFakeDaemon } from '../../outside.ts';

const ID = '0190f6a0-0000-7000-8000-000000000001';
const RUN = '0190f6a0-0000-7000-8000-000000000002';
const AT = '2026-03-01T12:00:00.000Z';

const SESSION = {
  session_id: ID,
  title: 'Tides',
  status: 'stopped',
  kind: 'api',
  user_id: ID,
  username: 'mara',
  key_id: 'key00001',
  project_id: null,
  stop: { termination_reason: 'user_requested_stop', requested_at: AT, confirmed_at: null },
  created_at: AT,
  updated_at: AT,
};
const STOP = {
  session_id: ID,
  status: 'stopped',
  stop_state: 'stopping',
  termination_reason: 'operator_requested_stop',
  cancelled_runs: 1,
  expired_user_input_requests: 0,
  executor_cancelled: false,
};

test('lists send their filters, and say how much more there is', async () => {
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/sessions?user=mara%20v&key=key00001&limit=1': () => ({ items: [SESSION], total: 7 }),
    'GET /api/v1/runs?status=queued': () => ({ items: [], total: 0 }),
    [`GET /api/v1/runs?session=${ID}&limit=500`]: () => ({ items: [], total: 0 }),
  });
  const args = ['sessions', 'list', '--user', 'mara v', '--key', 'key00001', '--limit', '1'];
  const listed = await run(args, { dataDir });
  expect(listed).toMatchObject({ code: 0, stderr: '1 of 7 sessions.\n' });
  expect(listed.stdout).toBe(`${[ID, 'stopped', 'mara', 'key00001', AT, 'Tides'].join('\t')}\n`);
  const json = await run([...args, '-o', 'json'], { dataDir });
  expect([JSON.parse(json.stdout), json.stderr]).toEqual([{ items: [SESSION], total: 7 }, '']);
  expect(await run(['runs', 'list', '--status', 'queued'], { dataDir })).toMatchObject({ code: 0 });
  expect(await run(['runs', 'list', '--session', ID, '--limit', '500'], { dataDir })).toMatchObject({ code: 0 });
  expect(received).toHaveLength(4);
});

test.each([
  ['sessions', 'show', 'x'],
  ['sessions', 'list', '--limit', '501'],
  ['runs', 'tail', '../keys'],
  ['runs', 'list', '--status', 'odd'],
  ['queue', '--limit', '0'],
])('%s %s %s is a usage error that says why, and sends no request', async (...args) => {
  const { dataDir, received } = await startFakeDaemon({});
  const ended = await run(args, { dataDir });
  expect([ended.code, received.length]).toEqual([2, 0]);
  expect(ended.stderr).toMatch(/invalid/);
});

test('one session is shown with its stop; its history is a line a message, or the whole document', async () => {
  const history = {
    session_id: ID,
    messages: [
      {
        id: 4,
        role: 'user',
        text_preview: 'Tell me',
        content: { _type: 'UserMessage', content: [] },
        attachments: [{}],
      },
    ],
  };
  const { dataDir } = await startFakeDaemon({
    [`GET /api/v1/sessions/${ID}`]: () => SESSION,
    [`GET /api/v1/sessions/${ID}/messages`]: () => history,
  });
  const shown = await run(['sessions', 'show', ID], { dataDir });
  expect(shown.stdout).toContain(`stop_requested_at\t${AT}\nstop_confirmed_at\t\ntermination_reason\tuser_requested`);
  expect((await run(['sessions', 'messages', ID], { dataDir })).stdout).toBe('4\tuser\t1\tTell me\n');
  expect(JSON.parse((await run(['sessions', 'messages', ID, '-o', 'json'], { dataDir })).stdout)).toEqual(history);
});

test('a stop that is not confirmed yet succeeds with a hint', async () => {
  const { dataDir, received } = await startFakeDaemon({
    [`POST /api/v1/sessions/${ID}/stop`]: () => STOP,
    [`POST /api/v1/runs/${RUN}/stop`]: () => ({ ...STOP, stop_state: 'stopped' }),
  });
  const stopped = await run(['sessions', 'stop', ID], { dataDir });
  expect(stopped).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('has not confirmed the stop yet') as string,
  });
  expect(stopped.stdout).toContain('stop_state\tstopping\nstopped_runs\t1\nexecutor_stopped\tfalse\n');
  const json = await run(['runs', 'stop', RUN, '-o', 'json'], { dataDir });
  expect(json).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(json.stdout)).toMatchObject({ cancelled_runs: 1, executor_cancelled: false });
  expect(received.map(({ body }) => body)).toEqual([undefined, undefined]);
});

test('deleting asks first, by title and owner', async () => {
  const { dataDir, received } = await startFakeDaemon({
    [`GET /api/v1/sessions/${ID}`]: () => SESSION,
    [`DELETE /api/v1/sessions/${ID}`]: () => ({ id: ID, cleanup: { scheduled: true } }),
  });
  const refused = await run(['sessions', 'delete', ID], {
    dataDir,
    stdin: 'n\n',
    terminal: { stdin: true, stderr: true },
  });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('"Tides" of mara') as string });
  const deleted = await run(['sessions', 'delete', ID, '--yes', '-o', 'json'], { dataDir });
  expect(JSON.parse(deleted.stdout)).toEqual({ id: ID, cleanup: { scheduled: true } });
  expect(received.map(({ method }) => method)).toEqual(['GET', 'GET', 'DELETE']);
});

const HAPPENED: readonly (readonly [type: string, payload: object])[] = [
  ['run.queued', { schedule_mode: 'immediate' }],
  ['run.started', { attempt: 1, model: 'scripted' }],
  ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'The moon ' } }],
  ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'pulls.' } }],
  ['tool_use', { step: 1, tool_use_id: 'a', name: 'shell', input: { command: 'date' } }],
  ['run.failed', { status: 'failed', error: { type: 'api_error', message: 'The model is gone.', retryable: true } }],
];
const EVENTS = HAPPENED.map(([type, payload], index) => ({
  id: index + 1,
  type,
  run_id: RUN,
  session_id: ID,
  stream_seq: index + 1,
  payload,
}));

/** Sends the events after the one that the reader has; breaks off after the third until it was joined again. */
function breakingStream() {
  let joined = 0;
  return ({ headers }: Received, response: ServerResponse): void => {
    joined += 1;
    const after = Number(headers['last-event-id'] ?? 0);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const rest = EVENTS.filter(({ id }) => id > after);
    for (const event of joined === 1 ? rest.slice(0, 3) : rest) {
      response.write(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    if (joined === 1) response.write('event: error\ndata: {"code":503,"message":"server restarting","data":null}\n\n');
    response.end();
  };
}

test('a run is followed to its end across a broken connection: text to stdout, the rest to stderr', async () => {
  const { dataDir, received } = await startFakeDaemon({ [`GET /api/v1/runs/${RUN}/stream`]: breakingStream() });
  const { code, stdout, stderr } = await run(['runs', 'tail', RUN], { dataDir });
  // The report is about a run that has failed.
  expect([code, stdout]).toEqual([1, 'The moon pulls.\n']);
  expect(stderr.split('\n')).toEqual([
    'queued',
    'started on scripted, attempt 1',
    'Connection lost, reconnecting.',
    '* shell date',
    'failed: The model is gone.',
    '',
  ]);
  expect(received.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '3']);
});

test('a reason is whole in a pipe, cut to the width of a terminal', async () => {
  const reason = `The model says: ${'no '.repeat(60)}and that is all.`;
  const failed = { type: 'run.failed', payload: { status: 'failed', error: { type: 'api_error', message: reason } } };
  const { dataDir } = await startFakeDaemon({
    [`GET /api/v1/runs/${RUN}/stream`]: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`id: 1\nevent: run.failed\ndata: ${JSON.stringify(failed)}\n\n`);
    },
  });
  expect((await run(['runs', 'tail', RUN], { dataDir })).stderr).toBe(`failed: ${reason}\n`);
  const seen = await run(['runs', 'tail', RUN], { dataDir, terminal: { stderr: true } });
  expect(seen.stderr).toMatch(/^failed: The model says: .*…\n$/);
});

test('Ctrl-C leaves the run alone and says how to follow it and how to stop it, with the given flags', async () => {
  const { dataDir } = await startFakeDaemon({
    [`GET /api/v1/runs/${RUN}/stream`]: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`id: 1\nevent: run.queued\ndata: ${JSON.stringify(EVENTS[0])}\n\n`);
    },
  });
  const running = start(['runs', 'tail', RUN, '--data-dir', dataDir]);
  await running.until('queued');
  running.signal('SIGINT');
  expect(await running.code).toBe(130);
  expect(running.stderr()).toContain(
    `continues in the daemon. Follow it with: errand --data-dir ${dataDir} runs tail ${RUN}\n`,
  );
  expect(running.stderr()).toContain(`Stop it with: errand --data-dir ${dataDir} runs stop ${RUN}\n`);
});

test('as JSON, a followed run is one document per line, without losses or duplicates', async () => {
  const { dataDir } = await startFakeDaemon({ [`GET /api/v1/runs/${RUN}/stream`]: breakingStream() });
  const { stdout } = await run(['runs', 'tail', RUN, '-o', 'json'], { dataDir });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3, 4, 5, 6]);
});

test('the queue is listed with reasons, and a line sums it up', async () => {
  const entry = {
    run_id: RUN,
    session_id: ID,
    username: 'mara',
    key_id: 'key00001',
    schedule_mode: 'queued',
    reason: 'session_busy',
    behind_run_id: ID,
    waiting_ms: 61_500,
    created_at: AT,
  };
  const queue = { items: [entry], total: 3, waiting_for_user: 0, claiming: true, slots: 4, busy: 4 };
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/queue?limit=1': () => queue,
    'GET /api/v1/queue': () => ({ ...queue, total: 1, waiting_for_user: 2 }),
  });
  const { stdout, stderr } = await run(['queue', '--limit', '1'], { dataDir });
  expect(stdout).toBe(`${[RUN, '1m 1s', 'mara', 'key00001', 'queued', 'session_busy', ID].join('\t')}\n`);
  expect(stderr).toBe('1 of 3 waiting runs; 4 of 4 slots busy.\n');
  const asking = await run(['queue'], { dataDir });
  expect(asking.stderr).toBe('1 waiting; 4 of 4 slots busy; 2 waiting for their users (errand inputs list).\n');
});
