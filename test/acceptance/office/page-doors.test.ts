// How people come in to the page of Office Mode and leave it, what a browser lacks, and ways back: in a real browser, before a scripted daemon.
// Without Chromium these tests are skipped, and say so.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromium } from '../../support/agent/browser-run.ts';
import { type OfficePage, startOfficePage } from '../../support/http/office-page.ts';
import { anEntity, anEvent, aSnapshot, sessionId, startOfficeServer } from '../../support/http/office-server.ts';
import { newContext, startBrowser } from '../../support/publishing/look.ts';

let browser: Browser;
beforeAll(async () => {
  if (chromium.ok) browser = await startBrowser(chromium.executable);
});
afterAll(() => browser?.close());

interface Door {
  readonly page: Page;
  readonly office: OfficePage;
  /** Errors that nothing took care of. */
  readonly errors: readonly string[];
  readonly until: (text: string | RegExp) => Promise<void>;
}

/** Comes with the code of a link; `change` is what is different this time. */
async function come(change: (office: OfficePage) => void = () => undefined, script = ''): Promise<Door> {
  const daemon = await startOfficeServer(aSnapshot([anEntity(1)]));
  onTestFinished(() => daemon.die());
  daemon.ofSession.set('run-rounds', { session_id: sessionId(1), items: [], total: 0, limit: 1, offset: 0 });
  daemon.ofSession.set('workspace/files', [
    { path: '/a.csv', name: 'a.csv', type: 'file', oss_status: null, oss_meta: null, url: null, downloadUrl: null },
  ]);
  daemon.emit(anEvent(1, 'run.started', { attempt: 1, model: 'm' }));
  const office = await startOfficePage(daemon);
  onTestFinished(() => office.close());
  office.codes.add('first');
  change(office);
  const context = await newContext(browser);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  // Its clock stands still: what is shown for a few seconds stays.
  await page.addInitScript(`Date.now = ((at) => () => at)(Date.now()); ${script}`);
  await page.goto(`${office.root}#code=first`);
  const until = (text: string | RegExp) => page.locator('#office').getByText(text).first().waitFor();
  return { page, office, errors, until };
}

describe.runIf(chromium.ok)('the doors of the page of Office Mode', () => {
  test('a link that was not looked at is not said to be used', async () => {
    const { until } = await come((office) => Object.assign(office, { refusesWith: 429 }));
    await until('This link is still good: open it again in a minute.');
  });

  test('a browser that keeps no cookie is told so', async () => {
    const { until } = await come((office) => Object.assign(office, { isKept: false }));
    await until(/Your browser did not keep the login/);
  });

  test('a log-out that fails leaves the view, and says that the browser is still logged in', async () => {
    const { page, office, until } = await come();
    await until('Plot the sales of quarter 1');
    office.refusesWith = 500;
    await page.getByRole('button', { name: 'Log out' }).click();
    await until('This browser is still logged in. The daemon says why.');
    await until('Plot the sales of quarter 1');
    office.refusesWith = null;
    await page.getByRole('button', { name: 'Log out' }).click();
    await until('errand office --web');
  });

  test('without a clipboard the id is shown, and without pickers the field of teams has the focus', async () => {
    const { page, errors, until } = await come(
      undefined,
      "Object.defineProperty(navigator, 'clipboard', { value: undefined }); delete HTMLSelectElement.prototype.showPicker;",
    );
    await until('Plot the sales of quarter 1');
    await page.keyboard.press('j');
    await page.keyboard.press('y');
    await until(sessionId(1));
    await page.keyboard.press('t');
    await page.locator('#team:focus').waitFor();
    expect(errors).toEqual([]);
  });

  test('a session that is opened again shows its files, and a jump to another visit of it begins anew', async () => {
    const { page, until } = await come();
    await until('Plot the sales of quarter 1');
    const open = async () => {
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await until('run started with m');
    };
    await open();
    await page.keyboard.press('4');
    await until('a.csv');
    await page.keyboard.press('Escape');
    await until('Plot the sales of quarter 1');
    await open();
    await page.keyboard.press('4');
    await until('a.csv');
    await page.keyboard.press('1');
    await until('run started with m');
    await page.waitForURL(new RegExp(`${sessionId(1)}$`));
    await page.evaluate('history.go(-2)');
    await page.waitForURL(/tab=files$/);
    await until('a.csv');
    await page.keyboard.press('1');
    await until('run started with m');
  });
});
