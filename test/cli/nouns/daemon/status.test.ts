// `errand status` for people, and `errand` alone.
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { makeDirectory, refuse, run, startFakeDaemon } from '../../outside.ts';

const STATUS = {
  version: '0.1.0',
  node_version: 'v24.0.0',
  pid: 7,
  started_at: '2026-03-01T10:59:00.000Z',
  uptime_seconds: 3660,
  ready: true,
  listen: '127.0.0.1:8484',
  public_url: 'http://127.0.0.1:8484',
  data_dir: '/d',
  config_dir: '/c',
  parts: [
    { name: 'store', state: 'ok', detail: null },
    { name: 'workers', state: 'degraded', detail: 'one thread is gone' },
    { name: 'disk', state: 'failed', detail: 'it is full\u001b[2J' },
  ],
  runs: { queued: 1, running: 2, waiting: 3, finalizing: 0 },
  workers: { threads: 2, slots: 8, busy: 2 },
  node: { id: '0198c0de-0000-7000-8000-000000000001', name: 'tide' },
  nodes: [{ id: '0198c0de-0000-7000-8000-000000000001', name: 'tide', state: 'online', capacity: 8, online: true }],
  webhooks: { failing: 0, disabled: 0, troubled: [] },
  models: [{ name: 'offline', endpoint: 'offline', kind: 'offline', default: true }],
};
const HEALTHY = { ...STATUS, parts: [{ name: 'store', state: 'ok', detail: null }] };

const onTerminal = { terminal: { stdout: true, stderr: true }, environment: { NO_COLOR: '1' } } as const;
const daemon = (status: object) => startFakeDaemon({ 'GET /api/v1/status': () => status });

test('what is wrong comes first, each with its glyph, and then the rest in groups', async () => {
  const { dataDir } = await daemon(STATUS);
  const { stdout, stderr, code } = await run(['status'], { dataDir, ...onTerminal });
  expect(stdout).toContain(
    'Problems\n  workers     ! degraded: one thread is gone\n  disk        ✗ failed: it is full\n\nWork\n',
  );
  expect(stdout.split('\n')[0]).toBe('  errand      ✓ ready, version 0.1.0, up 1h 1m');
  expect(stdout.match(/^\w.*$/gm)).toEqual(['Problems', 'Work', 'Models', 'Parts', 'Nodes', 'Daemon']);
  expect(stdout.match(/^ {2}workers {5}!/gm)).toHaveLength(1);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
});

test('without problems there is no such group, and a daemon that is not ready says so', async () => {
  const healthy = await daemon(HEALTHY);
  expect((await run(['status'], { dataDir: healthy.dataDir, ...onTerminal })).stdout).not.toContain('Problems');
  const { dataDir } = await daemon({ ...HEALTHY, ready: false });
  expect((await run(['status'], { dataDir, ...onTerminal })).stdout).toMatch(/^ {2}errand +✗ not ready$/m);
});

test('webhooks that fail or were disabled have a line each, and those beyond are counted', async () => {
  const failing_since = '2026-03-01T10:00:00.000Z';
  const troubled = [
    { id: 7, name: 'Ledger\u001b[2J', failing_since, failures: 60, disabled_reason: 'The receiver is gone.' },
    { id: 3, name: 'CI', failing_since, failures: 2, disabled_reason: null },
  ];
  const { dataDir } = await daemon({ ...HEALTHY, webhooks: { failing: 5, disabled: 1, troubled } });
  const { stdout } = await run(['status'], { dataDir, ...onTerminal, columns: 120 });
  expect(stdout).toContain('5 failing, 1 disabled by the daemon');
  expect(stdout).toMatch(/^ {2}webhook 7 +✗ Ledger, disabled: The receiver is gone\.$/m);
  expect(stdout).toMatch(/^ {2}webhook 3 +! CI, failing since 2026-03-01T10:00:00\.000Z, 2 attempts$/m);
  expect(stdout).toMatch(/^ {2}and more +4 webhooks$/m);
});

test.each([40, 60, 80])('on %i columns long lines are wrapped under their beginning', async (columns) => {
  const { dataDir } = await daemon(STATUS);
  const { stdout } = await run(['status'], { dataDir, ...onTerminal, columns });
  for (const line of stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
});

test('errand alone says how the daemon is doing, what is wrong and what to do next', async () => {
  const { dataDir } = await daemon(STATUS);
  const { stdout, stderr, code } = await run([], { dataDir, ...onTerminal });
  expect(stdout).toMatch(/✓ ready, version 0\.1\.0/);
  expect(stdout).toContain('1 queued, 2 running, 3 waiting for their user');
  expect(stdout).toContain('! degraded: one thread is gone');
  expect(stdout).toMatch(/^ {2}errand status +\S/m);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
});

test('errand alone says how to start a daemon that is not running, with the flags that it was given', async () => {
  const directory = makeDirectory();
  const { stdout, code } = await run(['--data-dir', directory]);
  expect(stdout).toContain(`Errand isn't running with the data directory ${directory}.`);
  expect(stdout).toContain(`errand --data-dir ${directory} serve`);
  expect(code).toBe(0);
});

test('errand alone as JSON is one document', async () => {
  const { dataDir } = await daemon(STATUS);
  expect(JSON.parse((await run(['-o', 'json'], { dataDir })).stdout)).toEqual({ running: true, status: STATUS });
  const absent = await run(['-o', 'json'], { dataDir: makeDirectory() });
  expect(JSON.parse(absent.stdout)).toMatchObject({ running: false });
});

test('errand alone repeats a refusal of the daemon in its words', async () => {
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/status': (_, response) => refuse(response, 403, 'Not you.'),
  });
  const { stdout, code } = await run([], { dataDir });
  expect(stdout).toMatch(/^Not you\.\n/);
  expect(code).toBe(0);
});

test.each([[['--help']], [['help']]])('%j still shows every command', async (args) => {
  expect((await run(args, { dataDir: makeDirectory() })).stdout).toMatch(/Usage: errand[^]*sessions[^]*keys/);
});

test('an unknown command or flag is still a usage error', async () => {
  expect(await run(['statsu'], { dataDir: makeDirectory() })).toMatchObject({ code: 2, stdout: '' });
  expect(await run(['--nothing'], { dataDir: makeDirectory() })).toMatchObject({ code: 2, stdout: '' });
});
