// Whoever names hosts can't tell a name that this network knows from one that nobody knows, by whatever way they are asked for.
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../support/http/http-fixture.ts';
import type { EgressPolicy, ResolveName } from '../../src/outbound/egress.ts';
import { guardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { makeGuardedPool } from '../../src/outbound/guarded-pool.ts';
import { startGuardedProxy } from '../../src/outbound/guarded-proxy.ts';
import { guardedFetchFor } from '../../src/outbound/guarded-stream.ts';
import { watchLookUps } from '../../src/outbound/look-ups.ts';
import { makeFetchImages } from '../../src/operations/turns/accepting/fetch-images.ts';
import { attempt } from '../../src/webhooks/attempt.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { startWebServer } from '../support/http/web-server.ts';
import { type FakeClock, fakeClock } from '../support/time/fake-clock.ts';

const URL = 'http://db.corp.example/';
/** What the network may know of a name. */
const NAMES: readonly ResolveName[] = [
  async () => Promise.reject(new Error('queryA ENOTFOUND db.corp.example')),
  async () => [],
  async () => [{ address: '10.0.0.7', family: 4 }],
  async () => [{ address: '127.0.0.1', family: 4 }],
  async () => [{ address: '169.254.169.254', family: 4 }],
  async () => [
    { address: '1.1.1.1', family: 4 },
    { address: 'fd00::1', family: 6 },
  ],
];

const shown = (error: unknown) => {
  const { name, message, kind, reason, details } = error as Record<string, unknown>;
  return { name, message, kind, reason, details };
};
const caught = async (work: Promise<unknown>) =>
  shown(
    await work.then(
      () => null,
      (error: unknown) => error,
    ),
  );

const silent: ResolveName = async () => new Promise(() => undefined);

function fetchImage(resolve: ResolveName, timeoutMs: number): Promise<unknown> {
  const fetchImages = makeFetchImages({
    settings: () => ({ ...SETTINGS, egress: { ...SETTINGS.egress, allow: [] } }),
    ending: new AbortController().signal,
    resolve,
    timeoutMs,
  });
  const blocks = [{ type: 'address', url: URL, field: 'messages.0', name: null }] as never;
  return caught(fetchImages({ blocks, takeRoom: () => undefined, keep: async () => undefined }));
}

/** What its record shows, but for the time that it took. */
async function deliver({ policy, clock }: Pick<Asked, 'policy' | 'clock'>, url = URL): Promise<unknown> {
  const pool = makeGuardedPool({ policy: () => policy, maxIdle: 1, clock });
  onTestFinished(pool.close);
  const shipment = { url, eventType: 'session.completed', eventId: 'e', body: '{}', secrets: null };
  const { durationMs: _, ...shown } = await attempt({ pool, clock }, { ...shipment, timeoutMs: 5_000 });
  return shown;
}

/** How each asks, and what whoever named the host is shown. */
const WAYS: Readonly<Record<string, (policy: EgressPolicy) => Promise<unknown>>> = {
  'pages and services': (policy) => caught(guardedFetch(policy, { url: URL, timeoutMs: 5_000, maxBytes: 10 })),
  'MCP servers': (policy) => caught(guardedFetchFor(watchLookUps(policy))(URL)),
  images: ({ resolve }) => fetchImage(resolve!, 5_000),
  'deliveries of webhooks': (policy) => deliver({ policy, clock: fakeClock() }),
  'pages of the browser': async (policy) => {
    const refused: string[] = [];
    const socketPath = join(temporaryDirectory(), 'proxy.sock');
    const proxy = await startGuardedProxy(policy, { socketPath, onRefused: (message) => refused.push(message) });
    onTestFinished(proxy.close);
    const asked = request({ socketPath, path: URL, agent: false }).end();
    const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
    const body = await text(answer);
    const socket = connect(socketPath);
    onTestFinished(() => void socket.destroy());
    socket.write('CONNECT db.corp.example:443 HTTP/1.1\r\nHost: db.corp.example:443\r\n\r\n');
    const [head] = (await once(socket, 'data')) as [Buffer];
    return { status: answer.statusCode, body, head: head.toString(), refused };
  },
};

test.each(Object.entries(WAYS))(
  '%s: a name that is unknown and one that leads inside look the same',
  async (_way, ask) => {
    const seen = await Promise.all(NAMES.map((resolve) => ask({ purpose: 'web_fetch', allow: [], resolve })));
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(JSON.stringify(seen[0])).toContain('has no address that may be reached');
  },
);

/** The same ways, when the time of the request ends during the look-up. `ended` ends it. */
const LATE: Readonly<Record<string, (asked: Asked) => Promise<unknown>>> = {
  'pages and services': ({ policy, timeoutMs }) => caught(guardedFetch(policy, { url: URL, timeoutMs, maxBytes: 10 })),
  'MCP servers': ({ policy, ended }) => caught(guardedFetchFor(watchLookUps(policy))(URL, { signal: ended.signal })),
  images: ({ policy: { resolve }, timeoutMs }) => fetchImage(resolve!, timeoutMs),
  'deliveries of webhooks': ({ policy, clock }) => deliver({ policy, clock }),
  'pages of the browser': async ({ policy, ended }) => {
    const socketPath = join(temporaryDirectory(), 'proxy.sock');
    const proxy = await startGuardedProxy(policy, { socketPath });
    onTestFinished(proxy.close);
    const asked = request({ socketPath, path: URL, agent: false }).end();
    asked.on('error', () => undefined);
    const answered = once(asked, 'response').then(async ([answer]) => text(answer as NodeJS.ReadableStream as never));
    const late = once(ended.signal, 'abort').then(() => proxy.givenUp()?.message);
    return Promise.race([answered, late]);
  },
};

interface Asked {
  readonly policy: EgressPolicy;
  readonly timeoutMs: number;
  readonly clock: FakeClock;
  readonly ended: AbortController;
}

test.each(Object.entries(LATE))('%s: nor do they look different when the look-up takes too long', async (_way, ask) => {
  const seen = await Promise.all(
    [NAMES[0]!, NAMES[2]!, silent].map((resolve) => {
      const [clock, ended] = [fakeClock(), new AbortController()];
      const policy: EgressPolicy = {
        purpose: 'web_fetch',
        allow: [],
        resolve: async (name) => {
          const found = resolve(name);
          if (resolve === silent) {
            // The library doesn't expect it while it calls its connector.
            setImmediate(() => {
              clock.advance(10_000);
              ended.abort(new Error('Too late.'));
            });
          }
          return found;
        },
      };
      return ask({ policy, timeoutMs: resolve === silent ? 500 : 60_000, clock, ended });
    }),
  );
  for (const one of seen) expect(one).toEqual(seen[0]);
  expect(JSON.stringify(seen[0])).toContain('has no address that may be reached');
});

test('what takes too long behind a name that was found is said to be late', async () => {
  const clock = fakeClock();
  const silentServer = await startWebServer(() => clock.advance(10_000));
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const policy = { purpose: 'web_fetch', allow: [silentServer.rule], resolve } as const;
  const url = `http://wiki.example:${silentServer.port}/`;
  expect(await deliver({ policy: { ...policy, purpose: 'webhook' }, clock }, url)).toMatchObject({
    error: `No reply from wiki.example:${silentServer.port} within 5 s.`,
  });
  expect(await caught(guardedFetch(policy, { url, timeoutMs: 200, maxBytes: 10 }))).toMatchObject({ kind: 'timeout' });
});

test('the log of the daemon tells its administrators which it was', async () => {
  const told = await Promise.all(
    NAMES.slice(0, 3).map(async (resolve) => {
      const lines: unknown[] = [];
      const policy = { purpose: 'webhook', allow: [], resolve } as const;
      const pool = makeGuardedPool({ policy: () => policy, maxIdle: 1, clock: fakeClock() });
      onTestFinished(pool.close);
      const log = { debug: (facts: unknown) => void lines.push(facts) } as never;
      const shipment = { url: URL, eventType: 'session.completed', eventId: 'e', body: '{}', secrets: null };
      await attempt({ pool, clock: fakeClock(), log }, { ...shipment, timeoutMs: 5_000 });
      return lines;
    }),
  );
  expect(told).toEqual([
    [{ event_id: 'e', why: 'queryA ENOTFOUND db.corp.example' }],
    [{ event_id: 'e', why: 'The name has no address.' }],
    [{ event_id: 'e', why: 'db.corp.example has an address that is not on the public internet.' }],
  ]);
});
