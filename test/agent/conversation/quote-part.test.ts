// A session that begins with a quote, and a window that is smaller than it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openingMessages } from '../../../src/agent/conversation/history.ts';
import type { Turn } from '../../../src/agent/port/protocol.ts';
import { quotedHistory } from '../../../src/domain/sessions/continued/quoted-history.ts';
import { NO_USAGE } from '../../../src/domain/sessions/usage.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { GRANT, makeBrief, startRun } from '../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const ROOM = 8_192 - 1_024;
const small = () => ({ ...GRANT, baseUrl: server.url, contextWindow: 8_192, maxOutputTokens: 1_024 });
const quoting: Turn = {
  user: [
    ...quotedHistory(
      Array.from({ length: 200 }, (_, at) => ({
        role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
        text: `Message ${at}. ${'The quick brown fox. '.repeat(20)}`,
      })),
    ),
    { type: 'text', text: 'And now?' },
  ],
  attachments: [],
  steps: [],
};
const sent = (at = -1) => JSON.stringify(server.requests.at(at)?.body.messages);

/** Refuses what is longer. */
function refuseBeyond(characters: number): void {
  server.script(({ body }) =>
    JSON.stringify(body.messages).length > characters
      ? { status: 400, body: { error: { type: 'exceed_context_size_error', message: 'Too long.' } } }
      : { text: 'Fine.' },
  );
}

test('of a quote a share of the window is shown, the newest of it', { tags: ['M1-history'] }, async () => {
  const before = server.requests.length;
  refuseBeyond(ROOM * 3);
  const main = startRun(await makeBrief({ model: small(), turn: quoting }), []);
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Fine.' });
  expect(server.requests).toHaveLength(before + 1);
  expect(sent().length).toBeGreaterThan(ROOM);
  for (const here of ['Message 199.', 'And now?', 'Older ones were left out']) expect(sent()).toContain(here);
  expect(sent()).not.toContain('Message 100.');
});

test('what is still refused as too long is cut further, and asked again', { tags: ['M1-history'] }, async () => {
  refuseBeyond(5_000);
  const main = startRun(await makeBrief({ model: small(), turn: quoting }), []);
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Fine.' });
  for (const here of ['Message 199.', 'And now?', 'Older ones were left out']) expect(sent()).toContain(here);
  expect(main.of('compaction')).toEqual([]);
});

test('the turn with the quote is there in the next one, as it was shown', { tags: ['M1-history'] }, async () => {
  const model = small();
  const step = { step: 1, kind: 'openai' as const, message: null, text: 'Fine.', calls: [], usage: NO_USAGE };
  const next: Turn = { user: [{ type: 'text', text: 'Next.' }], attachments: [], steps: [] };
  const [opening] = await openingMessages(await makeBrief({ model, turn: quoting }));
  const history = [{ ...quoting, steps: [step] }];
  const [first, answer] = await openingMessages(await makeBrief({ model, history, turn: next }));
  expect(first).toEqual(opening);
  expect(JSON.stringify(answer)).toContain('Fine.');
});
