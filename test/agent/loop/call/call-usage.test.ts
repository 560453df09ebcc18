// What a call has used that its server did not count: it is estimated where the server has worked on it, else nothing.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Signal } from '../../../../src/agent/port/protocol.ts';
import type { Reply } from '../../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../../support/model/model-server.ts';
import { holdTime } from '../../../support/time/hold-time.ts';
import { FAST_RETRIES, GRANT, LIMITS, makeBrief, startRun } from '../../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const ONCE = { ...FAST_RETRIES, tries: 1 };
/** Of three characters each: a prompt of at least a hundred tokens, and a reply of twenty. */
const PROMPT = 'x'.repeat(300);
const SIXTY = 'y'.repeat(60);

interface Played {
  readonly reply: Reply;
  /** The run is stopped at this signal. */
  readonly stopAt?: (signal: Signal) => boolean;
  readonly permits?: boolean;
  /** The model is silent for longer than it may, from this signal on; without headers, from its request on. */
  readonly silentAt?: (signal: Signal) => boolean;
}

async function play(kind: 'openai' | 'anthropic', { reply, stopAt, silentAt, permits = true }: Played) {
  server.script(reply);
  const before = server.requests.length;
  const brief = await makeBrief({
    model: { ...GRANT, kind, baseUrl: server.url, metered: !permits },
    turn: { user: [{ type: 'text', text: PROMPT }], attachments: [], steps: [] },
    limits: { ...LIMITS, firstTokenTimeoutMs: 300, idleTimeoutMs: 300 },
  });
  const pass = holdTime({ onTestFinished });
  const main = startRun(brief, [], { retries: ONCE, permits });
  const at = stopAt ?? silentAt;
  if (at !== undefined) await (reply.hang === 'before-headers' ? server.waitForRequest(before + 1) : main.next(at));
  if (stopAt !== undefined) main.control({ t: 'abort', reason: 'stop' });
  if (silentAt !== undefined) pass(300);
  await main.done;
  return main.of('call-failed').map(({ outcome, used }) => ({ outcome, used }));
}

const tokens = (inputTokens: unknown, outputTokens: unknown) => ({
  estimated: true,
  usage: { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 },
});
const ABOUT = { prompt: expect.toSatisfy((count: number) => count > 100 && count < 300) };
const about = (reply: number) => expect.toSatisfy((count: number) => count >= reply && count < reply + 15);

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (kind) => {
  const text = [SIXTY, SIXTY, SIXTY];

  test.each([
    ['an error', { status: 500 }, 'failed'],
    ['a limit of calls', { status: 429 }, 'throttled'],
    ['a refusal', { status: 400 }, 'rejected'],
    ['a reset connection', { refuse: true }, 'unreachable'],
  ] as const)('%s before the reply costs nothing', async (_, reply, outcome) => {
    expect(await play(kind, { reply })).toEqual([{ outcome, used: null }]);
  });

  test('a reply that breaks off costs its prompt and what has come of it', async () => {
    const reply = { text, noFinish: true };
    expect(await play(kind, { reply })).toEqual([{ outcome: 'failed', used: tokens(ABOUT.prompt, about(60)) }]);
  });

  test('a model that falls silent has cost the prompt, and what it has said', async () => {
    const used = tokens(ABOUT.prompt, 0);
    expect(await play(kind, { reply: { hang: 'before-headers' }, silentAt: () => true })).toEqual([
      { outcome: 'timeout', used },
    ]);
    const reply = { text, hang: 'mid-stream', afterDeltas: 1 } as const;
    expect(await play(kind, { reply, silentAt: ({ t }) => t === 'text' })).toEqual([
      { outcome: 'timeout', used: tokens(ABOUT.prompt, about(20)) },
    ]);
  });

  test('a stop costs the prompt, and what has come until then', async () => {
    const early = await play(kind, { reply: { hang: 'before-headers' }, stopAt: () => true });
    expect(early).toEqual([{ outcome: 'stopped', used: tokens(ABOUT.prompt, 0) }]);
    const reply = { text, hang: 'mid-stream', afterDeltas: 1 } as const;
    const late = await play(kind, { reply, stopAt: ({ t }) => t === 'text' });
    expect(late).toEqual([{ outcome: 'stopped', used: tokens(ABOUT.prompt, about(20)) }]);
  });

  test('a stop before the call was sent costs nothing', async () => {
    const stopAt = ({ t }: Signal) => t === 'permit-wanted';
    expect(await play(kind, { reply: { text }, stopAt, permits: false })).toEqual([{ outcome: 'stopped', used: null }]);
  });
});

test('a stop while the connection is not there yet costs nothing', async () => {
  // Accepts connections, and never answers the handshake.
  const silent = createServer().listen(0, '127.0.0.1');
  const connected = once(silent, 'connection') as Promise<[Socket]>;
  await once(silent, 'listening');
  const baseUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const limits = { ...LIMITS, connectTimeoutMs: 60_000, firstTokenTimeoutMs: 60_000 };
  const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl }, limits }), []);
  const [socket] = await connected;
  main.control({ t: 'abort', reason: 'stop' });
  await main.done;
  socket.destroy();
  silent.close();
  expect(main.of('call-failed')).toMatchObject([{ outcome: 'stopped', used: null }]);
});

test('a reply without a count of its server is estimated, and says so', async () => {
  const event = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
  const wire = `${event({ delta: { content: SIXTY } })}${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;
  server.script({ wire });
  const turn = { user: [{ type: 'text' as const, text: PROMPT }], attachments: [], steps: [] };
  const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl: server.url }, turn }), []);
  expect((await main.done).status).toBe('completed');
  expect(main.of('step').map(({ reply: { usage, estimated } }) => ({ usage, estimated }))).toEqual([
    tokens(ABOUT.prompt, about(20)),
  ]);
});
