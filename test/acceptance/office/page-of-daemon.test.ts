// A run watched at once in a terminal and in a browser while the daemon is killed; and a login that ends with its key. Without Chromium these tests are skipped, and say so.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { desk } from '../../../src/tui/state/desk-state.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { chromium } from '../../support/agent/browser-run.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { findings, look, startBrowser } from '../../support/publishing/look.ts';
import { openOfficeView } from '../../support/terminal/office-view.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let daemon: DaemonProcess;
let model: ModelServer;
let browser: Browser;

beforeAll(async () => {
  if (!chromium.ok) return;
  browser = await startBrowser(chromium.executable);
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'workers: { threads: 1, runs_per_thread: 2 }\nstreams: { drain_seconds: 0 }\n',
  });
});
afterAll(async () => {
  await browser?.close();
  await daemon?.close();
  await model?.close();
});

const OUTLINE: Reply = {
  text: ['I begin with the **outline**.', '\n\n- first\n- second\n'],
  tools: [{ name: 'write_file', input: { path: 'tides.md', content: 'Tides.\n' } }],
};

async function begin(text: string) {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: text }] }),
  });
  expect(response.status).toBe(200);
  await response.body!.cancel();
  return response.headers.get('x-session-id')!;
}

/** Opens the link that a key makes; the office is at the daemon's own address. */
async function enter(key: string, place = '') {
  const made = await fetch(`${daemon.url}/api/v1/office-mode/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await made.json()) as { data: { url: string } };
  const { hash } = new URL(data.url);
  const seen = await look(browser, `${daemon.url}/office${place}${hash}`);
  onTestFinished(() => seen.close());
  const text = () => seen.page.locator('#office').innerText();
  const until = (wanted: RegExp) =>
    waitFor(async () => wanted.test(await text()), { what: String(wanted) }).catch(async (error: unknown) => {
      throw new Error(`${String(wanted)} is not in:\n${await text()}\n${seen.complaints.join('\n')}`, { cause: error });
    });
  return { ...seen, text, until };
}

describe.runIf(chromium.ok)('the page of a daemon', () => {
  test('a terminal and a browser watch one session while the daemon is killed: both miss nothing', {
    tags: ['G25'],
  }, async () => {
    let isHolding = true;
    model.script(({ step }) =>
      step === 0 ? OUTLINE : isHolding ? { hang: 'after-headers' } : { text: ['All ', 'done.'] },
    );
    const sessionId = await begin('Report on the tides');
    const terminal = openOfficeView({ url: daemon.url, token: daemon.apiKey, screens: [floor(), desk(sessionId)] });
    onTestFinished(terminal.close);
    const { page, until, complaints } = await enter(daemon.apiKey);
    await until(/Report on the tides/);
    await page.getByRole('link', { name: 'Report on the tides' }).click();
    await until(/I begin with the outline\.[^]*writes tides\.md/);
    await terminal.until(/I begin with the outline\.[^]*writes tides\.md/);
    await waitFor(() => model.requests.length === 2);
    await daemon.kill();
    await until(/not reachable|reconnecting/);
    await until(/I begin with the outline\./);
    isHolding = false;
    await daemon.restart();
    await until(/All done\.[^]*✓ run completed/);
    await terminal.until(/All done\.[^]*✓ run completed/);
    expect((await page.locator('.blocks').innerText()).match(/I begin with the outline/g)).toHaveLength(1);
    expect(await findings(page)).toEqual([]);

    await page.keyboard.press('4');
    await until(/tides\.md/);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'tides.md' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('tides.md');
    const isOfNetwork = (complaint: string) => complaint.includes('Failed to load resource');
    expect(complaints.filter((complaint) => !isOfNetwork(complaint))).toEqual([]);
    for (const [tab, shown] of [
      ['2', /Round 1/],
      ['3', /❯ User/],
      ['5', /System/],
      ['6', /run\.done/],
      ['7', /At work/],
    ] as const) {
      await page.keyboard.press(tab);
      await until(shown);
      expect(await findings(page)).toEqual([]);
    }
  });

  test('a key that is revoked ends the logins that it made', async () => {
    const made = (await daemon.admin('POST', '/api/v1/keys', {
      user: daemon.adminName,
      scope: 'admin',
    })) as { id: string; key: string };
    const { page, until } = await enter(made.key);
    await until(/● live/);
    await daemon.admin('DELETE', `/api/v1/keys/${made.id}`);
    await until(/Your login has ended/);
    expect(await page.locator('.runs').count()).toBe(0);
  });
});
