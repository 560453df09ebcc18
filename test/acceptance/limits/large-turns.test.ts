// The largest turns that there are: no turn of the daemon's loop is long, whatever a caller sends and a model replies.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { watchLoop } from '../../support/daemon/loop-watch.ts';
import { takeTurn, type TurnRequest } from '../../support/daemon/turn.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const LONGEST_TURN_MS = 50;
/** Under the limits of 4 MB for a text, as it is and as JSON escapes it. */
const PLAIN = 'word '.repeat(780_000);
const ESCAPED = '\u0001ö"'.repeat(900_000);

const loop = watchLoop({ heapMb: 1_024 });
let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer({ record: false });
  daemon = await startDaemonProcess({ modelServerUrl: model.url, env: loop.env });
});
afterAll(async () => {
  await daemon?.close();
  await model?.close();
  loop.close();
});

const take = async (request: TurnRequest) => takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, request);
/** A reply counts as it was sent. */
const REPLY = ESCAPED.slice(0, 1_100_000);

test.each<[string, TurnRequest, Reply]>([
  ['a text', { content: PLAIN }, { text: 'Done.' }],
  ['a text that JSON escapes', { content: ESCAPED }, { text: 'Done.' }],
  ['a reply', { content: 'Write.' }, { text: PLAIN }],
  ['a reply that JSON escapes', { content: 'Write.' }, { text: REPLY }],
  ['a reply that is streamed', { content: 'Write.', stream: true }, { text: PLAIN.match(/.{1,4096}/g)! }],
  ['a reply that is streamed at once', { content: 'Write.', stream: true }, { text: REPLY }],
])('%s of 3.9 MB', async (_, request, reply) => {
  model.script(() => reply);
  const use = await loop.leastOf(daemon, { enoughMs: LONGEST_TURN_MS }, async () => {
    expect(await take(request)).toMatchObject({ status: 200, error: null });
  });
  expect(use.longestMs).toBeLessThan(LONGEST_TURN_MS);
});

test('a tool result of 3.9 MB', async () => {
  const call = { name: 'shell', input: { command: 'yes word | head -c 3900000' } };
  model.script(({ step }) => (step === 0 ? { tools: [call] } : { text: 'Done.' }));
  const use = await loop.leastOf(daemon, { enoughMs: LONGEST_TURN_MS }, async () => {
    expect(await take({ content: 'Go.' })).toMatchObject({ status: 200, error: null });
  });
  expect(use.longestMs).toBeLessThan(LONGEST_TURN_MS);
});

test('many texts at once', async () => {
  model.script(() => ({ text: 'Done.' }));
  const use = await loop.leastOf(daemon, { enoughMs: LONGEST_TURN_MS }, async () => {
    await Promise.all(Array.from({ length: 8 }, async () => take({ content: ESCAPED })));
  });
  expect(use.longestMs).toBeLessThan(LONGEST_TURN_MS);
});
