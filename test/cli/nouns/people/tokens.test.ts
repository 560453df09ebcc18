import { expect, test } from 'vitest';
import { refuse, run, startFakeDaemon } from '../../outside.ts';

const KEY = {
  id: '0198c0de-0000-7000-8000-000000000001',
  state: 'signing',
  created_at: '2026-03-01T12:00:00.000Z',
  retired_at: null,
  revoked_at: null,
} as const;
const OLD = { ...KEY, id: 'old', state: 'verifying', retired_at: '2026-03-01T12:00:00.000Z' };

const ROUTES = {
  'GET /api/v1/tokens/keys': () => ({ items: [KEY, OLD], total: 2 }),
  'POST /api/v1/tokens/rotate': () => KEY,
  'POST /api/v1/tokens/revoke-all': () => KEY,
};

test('list-keys prints a line a key in a pipe, and the document for -o json', async () => {
  const daemon = await startFakeDaemon(ROUTES);
  expect(await run(['tokens', 'list-keys'], daemon)).toEqual({
    code: 0,
    stdout: `${KEY.id}\tsigning\t${KEY.created_at}\t\t\nold\tverifying\t${KEY.created_at}\t${OLD.retired_at}\t\n`,
    stderr: '',
  });
  const { stdout } = await run(['tokens', 'list-keys', '-o', 'json'], daemon);
  expect(JSON.parse(stdout)).toEqual({ items: [KEY, OLD], total: 2 });
});

test('rotate asks nothing and prints the new key', async () => {
  const daemon = await startFakeDaemon(ROUTES);
  const { code, stdout } = await run(['tokens', 'rotate', '-o', 'json'], daemon);
  expect([code, JSON.parse(stdout)]).toEqual([0, KEY]);
  expect(daemon.received.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['POST', '/api/v1/tokens/rotate', undefined],
  ]);
});

test('revoke-all asks first, and sends nothing on a no or without a terminal', async () => {
  const daemon = await startFakeDaemon(ROUTES);
  const terminal = { stdin: true, stderr: true };
  expect(await run(['tokens', 'revoke-all'], daemon)).toMatchObject({ code: 2 });
  expect(await run(['tokens', 'revoke-all'], { ...daemon, terminal, stdin: 'n\n' })).toMatchObject({ code: 1 });
  expect(daemon.received).toEqual([]);
  const yes = await run(['tokens', 'revoke-all'], { ...daemon, terminal, stdin: 'y\n' });
  expect(yes).toMatchObject({ code: 0, stdout: expect.stringContaining(KEY.id) as string });
  expect(yes.stderr).toContain('Invalidate every existing login token?');
  expect(await run(['tokens', 'revoke-all', '--yes'], daemon)).toMatchObject({ code: 0 });
  expect(daemon.received.map(({ path }) => path)).toEqual(['/api/v1/tokens/revoke-all', '/api/v1/tokens/revoke-all']);
});

test('a refusal of the daemon ends with its exit code', async () => {
  const daemon = await startFakeDaemon({
    'POST /api/v1/tokens/rotate': (_received, response) => refuse(response, 403, 'No.'),
  });
  expect(await run(['tokens', 'rotate'], daemon)).toMatchObject({ code: 4, stdout: '' });
});
