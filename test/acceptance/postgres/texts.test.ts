// The real binary on PostgreSQL with texts that the server doesn't take as they are, and with the longest.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

/** What people may send, with the mark that stands for U+0000 in the database; and what a model may. */
const ASKED = 'a\uFDD0b\uFDD00\\u0000 é😀 \uFFFF';
const ANSWERED = `${ASKED}\0\uD800c\uDC00\0`;

/** What the model was told last. */
const told = () => JSON.stringify(model.requests.at(-1)!.body);
const written = (words: string) => JSON.stringify(words).slice(1, -1);

test('a model may answer and call tools with U+0000 and halves of characters, and is told what it said', async () => {
  model.script(({ step }) =>
    step === 0
      ? { text: ANSWERED, tools: [{ name: 'write_file', input: { path: 'a.txt', content: ANSWERED } }] }
      : { text: ANSWERED },
  );
  const kept = ANSWERED.toWellFormed();
  const { status, text, sessionId } = await takeTurn(daemon, { content: ASKED, stream: true });
  expect([status, text]).toEqual([200, kept + kept]);
  model.script({ text: 'Well.' });
  expect(await takeTurn(daemon, { content: 'And now?', sessionId })).toMatchObject({ status: 200, text: 'Well.' });
  for (const words of [ASKED, kept]) expect(told()).toContain(written(words));
});

test('names and prompts keep every character that they may have', async () => {
  const made = [
    ['/api/v1/teams', { name: ASKED }],
    ['/api/v1/scheduled-tasks', { name: ASKED, prompt: ASKED, cron: '0 7 29 2 *', timezone: 'UTC' }],
  ] as const;
  for (const [path, body] of made) {
    expect(await daemon.admin('POST', path, body)).toMatchObject(body);
    expect(JSON.stringify(await daemon.admin('GET', path))).toContain(JSON.stringify(ASKED));
  }
  await expect(daemon.admin('POST', '/api/v1/teams', { name: 'a\0' })).rejects.toThrow(': 422 ');
});

test('the longest texts of a turn and of a reply are kept', async () => {
  const long = randomBytes(1_400_000).toString('base64') + 'é'.repeat(1_000_000);
  model.script({ text: long });
  const { status, text, sessionId } = await takeTurn(daemon, { content: long });
  expect([status, text === long]).toEqual([200, true]);
  const headers = { authorization: `Bearer ${daemon.apiKey}` };
  const messages = await fetch(`${daemon.url}/openapi/v1/sessions/${sessionId!}/messages`, { headers });
  // Once of each side.
  expect((await messages.text()).split(long)).toHaveLength(3);
});
