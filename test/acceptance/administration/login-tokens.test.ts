// Login tokens on the real binary: the three grants, what a token opens, its end, and the keys behind it.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filesBelow, rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const TOKEN_PATH = '/openapi/v1/auth/token';

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function call(daemon: DaemonProcess, path: string, init: RequestInit = {}): Promise<Got> {
  const response = await fetch(daemon.url + path, init);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Got['body'] };
}

const grant = (daemon: DaemonProcess, body: object, key?: string) =>
  call(daemon, TOKEN_PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });

const passwordOf = (username: string, password: string) => ({ grant_type: 'password', username, password });

/** A token by a grant that must succeed. */
async function tokenOf(daemon: DaemonProcess, body: object, key?: string): Promise<string> {
  const got = await grant(daemon, body, key);
  expect(got.body).toMatchObject({ access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) as string });
  return got.body['access_token'] as string;
}

const asAdmin = (daemon: DaemonProcess) => tokenOf(daemon, passwordOf(daemon.adminName, daemon.adminPassword));

const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });
const statusAt = async (daemon: DaemonProcess, path: string, token: string) =>
  (await call(daemon, path, bearer(token))).status;

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

/** A command against the daemon's own socket, as a document. */
async function runJson(daemon: DaemonProcess, ...args: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function ended(args: readonly string[], env: Record<string, string> = {}) {
  return runErrand(args, { env }).then(
    () => ({ code: 0, stderr: '' }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

describe('with a daemon and a provider', () => {
  let daemon: DaemonProcess;
  const asked: string[] = [];
  /** The provider's reply to each token. */
  const answers: Readonly<Record<string, readonly [status: number, body: string]>> = {
    pia: [200, '{"code":0,"data":{"empNo":"e-77"}}'],
    seven: [200, '{"code":0,"data":{"empNo":7}}'],
    stale: [200, '{"code":1001,"data":null}'],
    down: [500, 'no'],
    page: [200, '<html>'],
  };
  const provider = createServer((request, response) => {
    const ticket = new URL(request.url ?? '', 'http://provider').searchParams.get('ticket') ?? '';
    asked.push(ticket);
    const [status, body] = answers[ticket] ?? [401, ''];
    response.writeHead(status).end(body);
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const { port } = provider.address() as AddressInfo;
    daemon = await startDaemonProcess({ errandYaml: settings(port) });
    await runJson(daemon, 'teams', 'create', 'Labs');
    for (const name of ['mara', 'olaf']) await runJson(daemon, 'users', 'create', name);
  });
  afterAll(async () => {
    await daemon.close();
    provider.closeAllConnections();
    provider.close();
  });

  function settings(port: number, ttl = 86_400): string {
    return `login_token_ttl_seconds: ${ttl}
sso:
  provider: corp
  userinfo_url: "http://127.0.0.1:${port}/user"
  token_parameter: ticket
  timeout_ms: 60000
  defaults: { team: Labs, functional_role: analyst, scenario: general }
`;
  }

  test('a password gives an administrator a token that opens the management API and nothing else', async () => {
    const got = await grant(daemon, passwordOf(daemon.adminName, daemon.adminPassword));
    expect(got).toMatchObject({ status: 200, body: { token_type: 'bearer', expires_in: 86_400 } });
    expect(Object.keys(got.body).sort()).toEqual(['access_token', 'expires_in', 'token_type']);
    expect([got.headers.get('cache-control'), got.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    const token = got.body['access_token'] as string;
    const { sub, iat, exp } = claimsOf(token) as Record<string, number | string>;
    expect([sub, Number(exp) - Number(iat)]).toEqual([daemon.adminUserId, 86_400]);
    expect(await statusAt(daemon, '/api/v1/users', token)).toBe(200);
    for (const path of ['/openapi/v1/models', '/openapi/v1/sessions/0198c0de-0000-7000-8000-000000000001/messages']) {
      expect([path, await statusAt(daemon, path, token)]).toEqual([path, 401]);
    }
    const turn = { model: 'errand', messages: [{ role: 'user', content: 'Hi' }] };
    const refused = await call(daemon, '/openapi/v1/messages', {
      method: 'POST',
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      body: JSON.stringify(turn),
    });
    expect(refused.status).toBe(401);
  });

  test('keys give tokens by their scope, and the token outlives its key', { tags: ['§4.1-rule-3'] }, async () => {
    const keyOf = async (user: string, scope: string) =>
      (await runJson(daemon, 'keys', 'create', '--user', user, '--scope', scope)) as { key: string; id: string };
    const good = await keyOf('mara', 'global');
    const token = await tokenOf(daemon, { grant_type: 'api_key' }, good.key);
    expect(await statusAt(daemon, '/api/v1/users', token)).toBe(403);
    const admins = await tokenOf(daemon, { grant_type: 'api_key' }, daemon.apiKey);
    expect(await statusAt(daemon, '/api/v1/users', admins)).toBe(200);

    const rows = [
      ['mara', 'conversation'],
      ['mara', 'admin'],
      [daemon.adminName, 'global'],
      [daemon.adminName, 'conversation'],
    ] as const;
    for (const [user, scope] of rows) {
      const { key } = await keyOf(user, scope);
      const got = await grant(daemon, { grant_type: 'api_key' }, key);
      expect([user, scope, got.status]).toEqual([user, scope, 403]);
      expect(got.body).toMatchObject({ type: 'error', error: { type: 'permission_error' } });
    }

    await runJson(daemon, 'keys', 'revoke', good.id, '--yes');
    expect((await grant(daemon, { grant_type: 'api_key' }, good.key)).status).toBe(401);
    expect(await statusAt(daemon, '/api/v1/users', token)).toBe(403);
    await runJson(daemon, 'users', 'set', 'mara', '--role', 'admin');
    expect(await statusAt(daemon, '/api/v1/users', token)).toBe(200);
    await runJson(daemon, 'users', 'set', 'mara', '--role', 'user');
  });

  test('a single sign-on makes its account once, with the defaults', async () => {
    const body = { grant_type: 'sso_token', provider: 'corp', sso_token: 'pia', card: 'someone-else' };
    const tokens = await Promise.all([1, 2, 3, 4, 5].map(() => tokenOf(daemon, body)));
    expect(new Set(tokens.map((token) => claimsOf(token)['sub'])).size).toBe(1);
    expect(await runJson(daemon, 'users', 'show', 'e-77')).toMatchObject({
      role: 'user',
      team: 'Labs',
      functional_role: 'analyst',
      scenario: 'general',
    });
    await tokenOf(daemon, { ...body, sso_token: 'seven' });
    expect(await runJson(daemon, 'users', 'show', '7')).toMatchObject({ username: '7' });
  });

  test.each([
    ['stale', 'corp', 401, 'authentication_error'],
    ['unknown', 'corp', 401, 'authentication_error'],
    ['down', 'corp', 502, 'api_error'],
    ['page', 'corp', 502, 'api_error'],
    ['pia', 'other', 422, 'invalid_request_error'],
  ])('the SSO token %s for %s is %i', { tags: ['§7-token-statuses', 'B8'] }, async (ticket, name, status, type) => {
    const got = await grant(daemon, { grant_type: 'sso_token', provider: name, sso_token: ticket });
    expect([got.status, got.body]).toEqual([
      status,
      { type: 'error', error: { type, message: expect.any(String) as string } },
    ]);
    expect(got.headers.get('cache-control')).toBe('no-store');
  });

  test('rotation keeps tokens good, revoking ends them all; keys are listed without their secrets', async () => {
    const first = await asAdmin(daemon);
    const rotated = await runJson(daemon, 'tokens', 'rotate');
    const second = await asAdmin(daemon);
    for (const token of [first, second]) expect(await statusAt(daemon, '/api/v1/status', token)).toBe(200);
    expect(await runJson(daemon, 'tokens', 'list-keys')).toMatchObject({
      total: 2,
      items: [
        { id: rotated['id'], state: 'signing' },
        { state: 'verifying', retired_at: expect.any(String) as string },
      ],
    });
    const refused = await ended(['tokens', 'revoke-all', '--data-dir', daemon.dataDir]);
    expect(refused.code).toBe(2);
    expect(await statusAt(daemon, '/api/v1/status', first)).toBe(200);

    await runJson(daemon, 'tokens', 'revoke-all', '--yes');
    for (const token of [first, second]) expect(await statusAt(daemon, '/api/v1/status', token)).toBe(401);
    const third = await asAdmin(daemon);
    expect(await statusAt(daemon, '/api/v1/status', third)).toBe(200);
    const keys = (await runJson(daemon, 'tokens', 'list-keys'))['items'] as { state: string }[];
    expect(keys.map(({ state }) => state)).toEqual(['signing', 'revoked', 'revoked']);
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['created_at', 'id', 'retired_at', 'revoked_at', 'state']);
  });

  test('a token is good after a crash, and its file works as --token-file', async () => {
    const token = await asAdmin(daemon);
    await daemon.kill();
    await daemon.restart();
    expect(await statusAt(daemon, '/api/v1/status', token)).toBe(200);
    const directory = temporaryDirectory({ token });
    const { stdout } = await runErrand([
      'users',
      'list',
      '--url',
      daemon.url,
      '--token-file',
      join(directory, 'token'),
    ]);
    expect(stdout).toContain('mara');
  });

  test('a disabled user is refused with token, password and key alike', { tags: ['B5'] }, async () => {
    const made = await runJson(daemon, 'users', 'create', 'rolf', '--role', 'admin');
    const login = passwordOf('rolf', made['password'] as string);
    const token = await tokenOf(daemon, login);
    await runJson(daemon, 'users', 'disable', 'rolf', '--yes');
    expect(await statusAt(daemon, '/api/v1/users', token)).toBe(403);
    expect(await statusAt(daemon, '/openapi/v1/models', token)).toBe(403);
    expect((await grant(daemon, login)).status).toBe(403);
    expect((await grant(daemon, passwordOf('rolf', 'wrong'))).status).toBe(401);
  });

  test('the validity follows the settings while the daemon runs, and an expired token is refused', {
    tags: ['§4.1-rule-1'],
  }, async () => {
    const { port } = provider.address() as AddressInfo;
    writeFileSync(join(daemon.configDir, 'errand.yaml'), settings(port, 2));
    const got = await waitFor(async () => {
      const { body } = await grant(daemon, passwordOf(daemon.adminName, daemon.adminPassword));
      return body['expires_in'] === 2 && body;
    });
    const token = got['access_token'] as string;
    const { exp } = claimsOf(token) as { exp: number };
    await waitFor(async () => (await statusAt(daemon, '/api/v1/status', token)) === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1_000);
  });

  test('neither log nor disk has a password, a token or the key that signs', { tags: ['§4.1-rule-4'] }, async () => {
    const password = daemon.adminPassword;
    const token = await asAdmin(daemon);
    await grant(daemon, passwordOf('mara', 'a wrong word for mara'));
    expect(daemon.stderr()).toContain(TOKEN_PATH);
    const signature = token.split('.')[2] ?? '-';
    for (const secret of [password, signature, 'a wrong word for mara', 'ticket=']) {
      expect(daemon.stderr().includes(secret), secret).toBe(false);
      for (const name of filesBelow(daemon.dataDir).filter((file) => !file.endsWith('.sock'))) {
        expect([name, readFileSync(join(daemon.dataDir, name)).includes(secret)]).toEqual([name, false]);
      }
    }
    const [key] = rowsOf<{ salt: Buffer }>(daemon, 'SELECT salt FROM signing_keys WHERE retired_at IS NULL');
    expect(key?.salt).toHaveLength(32);
    expect(asked).toContain('pia');
  });

  // The last of this daemon: afterwards its address is held back.
  test('the eleventh login after ten wrong passwords is 429, also with the right one, and keys still work', {
    tags: ['B7-attempts'],
  }, async () => {
    const login = passwordOf('mara', 'a guess');
    const guesses = await Promise.all(Array.from({ length: 30 }, () => grant(daemon, login)));
    const count = (status: number) => guesses.filter((got) => got.status === status).length;
    expect(count(401)).toBeLessThanOrEqual(10);
    expect(count(401) + count(429)).toBe(30);
    const held = await grant(daemon, passwordOf(daemon.adminName, daemon.adminPassword));
    expect(held).toMatchObject({ status: 429, body: { type: 'error', error: { type: 'rate_limit_error' } } });
    expect(Number(held.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(held.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(held.headers.get('cache-control')).toBe('no-store');
    await tokenOf(daemon, { grant_type: 'api_key' }, daemon.apiKey);
  });
});

describe('before it serves', () => {
  const serve = (dataDir: string) => ['serve', '--data-dir', dataDir, '--listen', '127.0.0.1:0'];

  test.each(['0', '86401', 'day'])('a validity of %j stops the start with 78 and names the variable', async (ttl) => {
    const how = await ended(serve(join(temporaryDirectory(), 'data')), { OPENAPI_LOGIN_TOKEN_TTL_SECONDS: ttl });
    expect(how.code).toBe(78);
    expect(how.stderr).toContain('OPENAPI_LOGIN_TOKEN_TTL_SECONDS: must be a whole number of seconds from 1 to 86400');
  });

  test('a master key that others may read stops the start and says what to do', async () => {
    const dataDir = join(temporaryDirectory(), 'data');
    await runErrand(['init', '--data-dir', dataDir]);
    chmodSync(join(dataDir, 'master.key'), 0o644);
    const how = await ended(serve(dataDir));
    expect(how.code).toBe(6);
    expect(how.stderr).toContain(`chmod 600 ${dataDir}/master.key`);
  });

  test('a master key in the credentials directory is used, and none is created in the data directory', {
    tags: ['J6-master-key'],
  }, async () => {
    const credentials = join(temporaryDirectory(), 'credentials');
    mkdirSync(credentials);
    const env = { CREDENTIALS_DIRECTORY: credentials };
    const daemon = await startDaemonProcess();
    try {
      // `init` has made the file; from here on the daemon has to do without it.
      await daemon.stop();
      const file = join(daemon.dataDir, 'master.key');
      writeFileSync(join(credentials, 'master-key'), readFileSync(file), { mode: 0o440 });
      rmSync(file);
      await daemon.restart({ env });
      const token = await asAdmin(daemon);
      await daemon.restart({ env });
      expect(filesBelow(daemon.dataDir)).not.toContain('master.key');
      expect(await statusAt(daemon, '/api/v1/status', token)).toBe(200);
    } finally {
      await daemon.close();
    }
  });
});
