// Checks on the main thread: few at once, each within its time limit, ended with the daemon or with the caller.
import { NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { McpServerDefinition } from '../../../src/catalog/definitions.ts';
import { makeChecks } from '../../../src/execution/checks/checks.ts';
import { makePermits } from '../../../src/execution/pool/permits.ts';
import type { ResolvedModel } from '../../../src/execution/brief/resolve-model.ts';
import { NO_PRICE } from '../../../src/domain/sessions/usage.ts';
import { makeLog } from '../../../src/log/log.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

async function openFixture() {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const clock = fakeClock();
  const permits = makePermits();
  const answered = vi.fn<(configured: string) => void>();
  const checks = makeChecks({
    answered,
    clock,
    permits,
    log: makeLog({ level: 'silent' } as never),
    locations: { configDir: '/nothing', credentialsDirectory: null },
    settings: () => SETTINGS,
    sandbox: () => null,
    unusableTools: { listed: () => undefined },
  });
  onTestFinished(() => checks.stop());
  const model = (maxInFlight: number | null): ResolvedModel => ({
    model: {
      name: 'm',
      endpoint: 'e',
      model: 'scripted',
      contextWindow: 8_192,
      maxOutputTokens: 1_024,
      images: false,
      documents: false,
      structured: 'tool',
      thinkingTags: false,
      price: NO_PRICE,
    },
    endpoint: {
      name: 'e',
      kind: 'openai',
      baseUrl: server.url,
      apiKey: null,
      caFile: null,
      extras: NO_EXTRAS,
      maxInFlight,
    },
  });
  const check = (signal = new AbortController().signal, maxInFlight: number | null = null) =>
    checks.checkModel(model(maxInFlight), { context: false }, signal);
  return { server, clock, permits, checks, check, answered };
}

test('a check runs on its thread and answers', async () => {
  const { check } = await openFixture();
  expect((await check()).findings.map(({ check, state }) => [check, state])).toContainEqual(['stream', 'ok']);
});

test('a third check at the same time is refused, and taken again when one has ended', async () => {
  const { server, check } = await openFixture();
  server.script({ hang: 'before-headers' });
  const leaving = new AbortController();
  const [first, second] = [check(leaving.signal), check()];
  second.catch(() => undefined);
  await server.waitForRequest(2);
  await expect(check()).rejects.toMatchObject({ reason: 'unavailable' });
  leaving.abort();
  await expect(first).rejects.toMatchObject({ reason: 'unavailable' });
  server.script({ text: 'ok' });
  expect((await check()).findings).not.toEqual([]);
});

test('a check that takes too long is ended, and its call of the model with it', async () => {
  const { server, clock, check } = await openFixture();
  server.script({ hang: 'before-headers' });
  const late = check();
  late.catch(() => undefined);
  await server.waitForRequest(1);
  clock.advance(900_000);
  await expect(late).rejects.toMatchObject({ reason: 'wait_timeout' });
  await waitFor(() => server.inFlight() === 0);
});

test('a check ends with the daemon, and none starts after it', async () => {
  const { server, checks, check } = await openFixture();
  server.script({ hang: 'before-headers' });
  const cut = check();
  cut.catch(() => undefined);
  await server.waitForRequest(1);
  checks.stop();
  await expect(cut).rejects.toMatchObject({ reason: 'unavailable' });
  await expect(check()).rejects.toMatchObject({ reason: 'unavailable' });
});

test('a check waits for a permit of its endpoint like a run, and gives it back', async () => {
  const { server, permits, check } = await openFixture();
  let granted = 0;
  const held = permits.acquire('e', 1, () => (granted += 1));
  expect(granted).toBe(1);
  const leaving = new AbortController();
  const gone = check(leaving.signal, 1);
  leaving.abort();
  await expect(gone).rejects.toMatchObject({ reason: 'unavailable' });
  const waiting = check(undefined, 1);
  expect(server.requests).toEqual([]);
  held.release();
  expect((await waiting).findings).not.toEqual([]);
  permits.acquire('e', 1, () => (granted += 1));
  expect(granted).toBe(2);
});

const definition = (changes: Partial<McpServerDefinition>): McpServerDefinition => ({
  name: 'files',
  description: '',
  file: 'mcp-servers.yaml',
  plugin: null,
  transport: {
    kind: 'stdio',
    command: 'true',
    args: [],
    env: {},
    envFiles: {},
    folders: [],
    network: false,
  },
  startTimeoutMs: 1_000,
  callTimeoutMs: 1_000,
  tools: null,
  enabledByDefault: false,
  ...changes,
});

test('an MCP server is not started without a sandbox, and its directory does not stay', async () => {
  // Its own: other tests may check servers at the same time.
  const directory = temporaryDirectory();
  vi.stubEnv('TMPDIR', directory);
  const { checks } = await openFixture();
  const report = await checks.checkMcpServer(definition({}), new AbortController().signal);
  expect(report.findings).toEqual([
    { check: 'start', state: 'failed', detail: 'The server cannot be started: the sandbox is not available.' },
  ]);
  expect(readdirSync(directory)).toEqual([]);
});

test('an MCP server whose secret cannot be read is reported, without the secret', async () => {
  const { checks } = await openFixture();
  const { transport } = definition({});
  const secret = { ...transport, envFiles: { TOKEN: 'missing-file' } } as McpServerDefinition['transport'];
  const report = await checks.checkMcpServer(definition({ transport: secret }), new AbortController().signal);
  expect(report.findings).toMatchObject([{ check: 'secrets', state: 'failed' }]);
  expect(report.findings[0]?.detail).toContain('TOKEN');
});

test('a model that replies to a check has answered, and one that refuses has not', async () => {
  const { check, answered, server } = await openFixture();
  server.enqueue({ status: 401 });
  await check();
  expect(answered).not.toHaveBeenCalled();
  await check();
  expect(answered.mock.calls).toEqual([[expect.stringMatching(/^[\w-]{43}$/)]]);
});
