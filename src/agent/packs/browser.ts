// The tools of the browser: open, click, type, read, screenshot.
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { JsonObject } from '../../domain/json.ts';
import { type Action, ACTIONS } from '../browser/actions.ts';
import { type Browser, VIEWPORT } from '../browser/open-browser.ts';
import type { OpenedWindows } from '../browser/opened-windows.ts';
import { settle, viewOf } from '../browser/page-view.ts';
import { makeRunBrowser, NO_PAGE, type RunBrowser } from '../browser/run-browser.ts';
import { NO_TOOLS, type Run } from '../loop/run.ts';
import type { ExecutedTool, OpenedTools } from '../port/tool.ts';
import { failed, inputOf, succeeded } from '../tools/workspace-tool.ts';

const MAX_PICTURE_HEIGHT = 8_000;
const JPEG = { type: 'jpeg', quality: 70, timeout: 10_000 } as const;
/** By then, the effects of a click have begun. */
const MOMENT_MS = 300;
const NO_ANSWER =
  'A new window was opened, but its server has not replied yet. This is the previous page; call browser_read later.';

type KeepPicture = (page: Page, callId: string, fullPage: boolean) => Promise<void>;

/** The browser's tools, for a run that was granted one. `limitMs`: time limit of an action, if not the default. */
export function browserTools(run: Run, limitMs?: number): OpenedTools {
  const grant = run.brief.equipment.browser;
  if (grant === null) return NO_TOOLS;
  const browser = makeRunBrowser(run, grant, limitMs);
  const keepPicture = pictureKeeper(run);
  const tools = [...ACTIONS.map((action) => toolOf(action, browser, keepPicture)), screenshot(browser, keepPicture)];
  return { tools, notes: [], close: browser.close };
}

function toolOf(action: Action, browser: RunBrowser, keepPicture: KeepPicture): ExecutedTool {
  const { name, description, inputSchema, needsPage, pictured } = action;
  return {
    kind: 'executes',
    name,
    description,
    inputSchema,
    execute: async (input, { callId }) => {
      const fault = action.fault?.(input) ?? null;
      if (fault !== null) return failed(fault);
      return browser.onPage(needsPage, async (page, { front, openedFromNow }) => {
        const windows = openedFromNow();
        const outcome = (await action.act(page, input)) ?? (await whatFollowed(page, front, windows));
        const shown = front();
        // If the picture fails, the action still succeeded.
        if (pictured && shown !== undefined) await keepPicture(shown, callId, false).catch(() => undefined);
        return succeeded(outcome);
      });
    },
  };
}

/** The page after an action, which may have opened another one, or closed this one. */
async function whatFollowed(page: Page, front: Browser['front'], windows: OpenedWindows): Promise<string> {
  await delay(MOMENT_MS);
  await settle(page);
  const areHere = await windows.arrive();
  const opened = front();
  if (opened !== undefined && opened !== page) {
    await opened.waitForLoadState('domcontentloaded').catch(() => undefined);
    await settle(opened);
  }
  // A window that was opened only for a download has closed by now.
  const shown = front();
  if (shown === undefined) return NO_PAGE;
  const view = await viewOf(shown);
  return areHere ? view : `${NO_ANSWER}\n\n${view}`;
}

function screenshot(browser: RunBrowser, keepPicture: KeepPicture): ExecutedTool {
  const fullPage: JsonObject = {
    type: 'boolean',
    description: 'Capture the whole page, not only what fits the window.',
  };
  return {
    kind: 'executes',
    name: 'browser_screenshot',
    description:
      'Stores a picture of the open page with this call. It confirms that the picture was stored, but does not show it to you.',
    inputSchema: inputOf({ full_page: fullPage }, []),
    execute: (input, { callId }) =>
      browser.onPage(true, async (page) => {
        await keepPicture(page, callId, input['full_page'] === true);
        return succeeded(`A picture of ${page.url()} was stored.`);
      }),
  };
}

function pictureKeeper({ channel }: Run): KeepPicture {
  return async (page, callId, fullPage) => {
    const height = fullPage ? await page.evaluate('document.documentElement.scrollHeight') : VIEWPORT.height;
    const clip = { x: 0, y: 0, width: VIEWPORT.width, height: Math.min(Number(height), MAX_PICTURE_HEIGHT) };
    const bytes = await page.screenshot({ ...JPEG, ...(fullPage ? { fullPage, clip } : {}) });
    await channel.request('keep_screenshot', { callId, mimeType: 'image/jpeg', bytes: new Uint8Array(bytes) });
  };
}
