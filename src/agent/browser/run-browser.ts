// The browser of one run: started on first use, restarted after it has died, ended with the run.
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { messageOf } from '../../domain/errors.ts';
import { seconds } from '../loop/call/model-failure.ts';
import type { BrowserGrant } from '../port/grants.ts';
import type { ToolResult } from '../port/protocol.ts';
import type { Run } from '../loop/run.ts';
import { failed } from '../tools/workspace-tool.ts';
import { type Browser, openBrowser } from './open-browser.ts';

const CLOSE_MS = 2_000;

/** Upper limit for an action: its own waits, each with a timeout, plus calls that have none, such as reading a page's title. */
const mostMs = ({ timeoutMs }: BrowserGrant) => 4 * timeoutMs + 10_000;

/** Returned when an action needs a page and none is open. */
export const NO_PAGE = 'No page is open. Call browser_open first.';

export interface RunBrowser {
  /** Does something with the page in front. Returns failures as text; rejects only when the run is stopped. */
  onPage(needsPage: boolean, work: (page: Page, browser: Browser) => Promise<ToolResult>): Promise<ToolResult>;
  close(): Promise<void>;
}

/** Makes the handle; starts nothing yet. Calls must not overlap. */
export function makeRunBrowser(
  { channel, brief }: Pick<Run, 'channel' | 'brief'>,
  grant: BrowserGrant,
  limitMs: number = mostMs(grant),
): RunBrowser {
  let browser: Promise<Browser> | undefined;

  async function current(): Promise<Browser> {
    const open = await browser?.catch(() => undefined);
    if (open?.alive() === true) return open;
    await open?.close();
    channel.halt.signal.throwIfAborted();
    browser = openBrowser(grant, brief);
    return browser;
  }

  async function close(): Promise<void> {
    const open = await browser?.catch(() => undefined);
    browser = undefined;
    await open?.close();
  }
  // At once, so that nothing continues to wait for a page.
  channel.halt.signal.addEventListener('abort', () => void close(), { once: true });

  return {
    close,
    onPage: async (needsPage, work) => {
      let open: Browser | undefined;
      try {
        open = await current();
        const page = open.front() ?? (needsPage ? undefined : await open.newPage());
        return page === undefined ? failed(NO_PAGE) : await inTime(page, work(page, open), limitMs);
      } catch (error) {
        channel.halt.signal.throwIfAborted();
        return failed(wordsFor(error, open));
      }
    },
  };
}

/** The result of some work with a page. A page whose script never yields may block it forever; it is then closed. */
async function inTime(page: Page, work: Promise<ToolResult>, limitMs: number): Promise<ToolResult> {
  const late = Promise.withResolvers<never>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    const closed = page.close().catch(() => undefined);
    void Promise.race([closed, delay(CLOSE_MS)]).then(() =>
      late.reject(new Error(`The page did not respond within ${seconds(limitMs)} s, and was closed.`)),
    );
  }, limitMs);
  const worked = work.catch((error: unknown) => {
    // Closing the page also ends whatever waits for it.
    if (!isLate) throw error;
    return late.promise;
  });
  return Promise.race([worked, late.promise]).finally(() => clearTimeout(timer));
}

/** Playwright's errors as a sentence: their first line, or their cause. */
function wordsFor(error: unknown, browser: Browser | undefined): string {
  if (browser?.alive() === false)
    return 'The browser ended unexpectedly. The next call starts a new one, without its pages.';
  const message = messageOf(error)
    .split('\n')[0]!
    .replace(/^\w+\.\w+: (?:Error: )?/, '');
  const address = /net::ERR_\w+ at (\S+)/.exec(message)?.[1];
  if (address !== undefined) {
    const refusal = browser?.refusalOf(URL.parse(address)?.hostname ?? '') ?? message;
    return `The page could not be opened: ${refusal}`;
  }
  const timeout = /^Timeout (\d+)ms exceeded/.exec(message)?.[1];
  if (timeout === undefined) return message;
  const unresolved = browser?.unresolved() ?? null;
  if (unresolved !== null) return `The page could not be opened: ${unresolved}`;
  return `The action did not finish within ${seconds(Number(timeout))} s. Call browser_read to see the page as it is now.`;
}
