// The desk of Office Mode in a real browser, before a scripted daemon. Without Chromium these tests are skipped, and say so.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium } from '../../support/agent/browser-run.ts';
import { anEntity, anEvent, AT, type OfficeServer, runId, sessionId } from '../../support/http/office-server.ts';
import { aDaemon, visitOffice } from '../../support/http/office-visit.ts';
import { findings, startBrowser } from '../../support/publishing/look.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let browser: Browser;
beforeAll(async () => {
  if (chromium.ok) browser = await startBrowser(chromium.executable);
});
afterAll(() => browser?.close());

/** Opens a tab of a session. */
const atDesk = (daemon: OfficeServer, tab = 'live', number = 1) =>
  visitOffice(browser, daemon, { place: `/sessions/${sessionId(number)}?tab=${tab}` });

type Told = Parameters<typeof anEvent>;
const tell = (daemon: OfficeServer) => (type: Told[1], payload: object) => daemon.emit(anEvent(1, type, payload));

const CUT = '… only the beginning; Messages has all of it';
const COMMAND = `python plot.py ${'--quarter=1 '.repeat(40)}--to=/plots/sales.png`;

function askedRound(text: string) {
  const round = { round_no: 1, run_id: runId(1), status: 'canceled', user_message: text, assistant_message: null };
  const facts = { tools: [], input_tokens: 1, output_tokens: 1, cost_usd: 0, started_at: null, finished_at: null };
  return { session_id: sessionId(1), items: [{ ...round, ...facts }], total: 1, limit: 1, offset: 0 };
}

function messagesOf(...content: readonly object[]) {
  const message = {
    id: 1,
    role: 'assistant',
    text_preview: '',
    content: { content },
    attachments: [],
    run_id: runId(1),
  };
  const items = [{ ...message, created_at: new Date(AT).toISOString() }];
  return { session_id: sessionId(1), items, has_more: false, next_before_id: null };
}

describe.runIf(chromium.ok)('the desk of Office Mode', () => {
  test('a page that has room for more than the newest events has the question that they follow', async () => {
    const daemon = await aDaemon();
    daemon.ofSession.set('run-rounds', askedRound('What did we sell?'));
    daemon.keep(anEvent(1, 'run.queued', { schedule_mode: 'immediate' }));
    daemon.keep(anEvent(1, 'run.started', { attempt: 1, model: 'm' }));
    for (let at = 0; at < 1100; at += 1)
      daemon.keep(anEvent(1, 'content_block_delta', { index: 0, delta: { type: 'text_delta', text: '.' } }));
    const { until } = await atDesk(daemon);
    await until(/What did we sell\?[^]*run queued[^]*run started with m/);
  });

  test('an unfolded call shows all that it was given, and says where that is only the beginning', async () => {
    const daemon = await aDaemon();
    const own = tell(daemon);
    own('tool_use', { tool_use_id: 'a', name: 'shell', input: { command: COMMAND, timeout: 5 } });
    own('tool_result', { tool_use_id: 'a', ok: true, output: 'It is drawn.', truncated: true, duration_ms: 12 });
    own('tool_use', { tool_use_id: 'b', name: 'write_file', input: { path: '/a', content: 'x' }, truncated: true });
    const { page, until } = await atDesk(daemon);
    await until('writes a');
    const calls = page.locator('.call');
    expect(await calls.first().innerText()).not.toContain('/plots/sales.png');
    await page.keyboard.press('e');
    await until('It is drawn.');
    const [given, made] = await calls.first().locator('pre').allInnerTexts();
    expect(given).toBe(`command: ${COMMAND}\ntimeout: 5`);
    expect(made).toBe('It is drawn.');
    expect(await calls.first().innerText()).toMatch(/It is drawn\.\s+… only the beginning; Messages has all of it$/);
    expect(await calls.last().innerText()).toContain(CUT);
    expect(await findings(page)).toEqual([]);
  });

  test('messages have all of what calls were given and of what came of them, folded', async () => {
    const daemon = await aDaemon();
    const written = Array.from({ length: 1500 }, (_, at) => `line ${at}`).join('\n');
    const content = messagesOf(
      { type: 'text', text: 'I draw.' },
      { type: 'tool_use', id: 'a', name: 'shell', input: { command: COMMAND } },
      { type: 'tool_result', tool_use_id: 'a', is_error: false, content: `${'much '.repeat(8000)}end` },
      { type: 'tool_use', id: 'b', name: 'write_file', input: { path: '/a', content: written } },
    );
    daemon.ofSession.set('messages-with-files', content);
    const { page, until, text } = await atDesk(daemon, 'messages');
    await until('I draw.');
    expect(await text()).not.toContain('sales.png');
    await page.locator('.call summary').first().click();
    await until(`command: ${COMMAND}`);
    await page.keyboard.press('e');
    await until('much end');
    expect(await page.locator('.diff .added').last().innerText()).toBe('+ line 1499');
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('e');
    await waitFor(async () => (await page.locator('details[open]').count()) === 0);
  });

  test('a tab that is being read, has nothing or could not be read says so', async () => {
    const daemon = await aDaemon();
    const { page, until } = await atDesk(daemon);
    await until(/● live[^]*Nothing yet\./);
    await page.keyboard.press('2');
    await until('Nothing yet.');
    await page.keyboard.press('3');
    await until('It is not well.');
    daemon.delayMs = 20_000;
    await page.keyboard.press('7');
    await until('Reading…');
  });

  test('a session that no snapshot has room for has its newest run in the heading', async () => {
    const daemon = await aDaemon();
    const over = { status: 'completed', detail: null, finished_at: new Date(AT).toISOString() } as const;
    daemon.ofSession.set('', { session_id: sessionId(2), items: [anEntity(2, over)], total: 1, limit: 1, offset: 0 });
    const { until, page } = await atDesk(daemon, 'live', 2);
    await until(/Plot the sales of quarter 2\s+Ann Arbor · Research[^]*18\.2k tokens[^]*\$0\.07/);
    expect(daemon.requests.filter((path) => path.includes('office-runs'))).toEqual([
      `/api/v1/office-mode/office-runs/session/${sessionId(2)}?limit=1`,
    ]);
    await page.goto(page.url().replace(sessionId(2), sessionId(1)));
    await until(/Plot the sales of quarter 1/);
    expect(daemon.requests.filter((path) => path.includes('office-runs'))).toHaveLength(1);
  });

  test('a round that somebody stopped says so in the word that the floor has', async () => {
    const daemon = await aDaemon();
    daemon.ofSession.set('run-rounds', askedRound('What did we sell?'));
    const { until } = await atDesk(daemon, 'rounds');
    await until(/- Round 1 stopped/);
  });
});
