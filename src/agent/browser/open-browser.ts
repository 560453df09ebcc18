// A run's browser: one window in front, a few behind it, nothing kept between runs.
import type { BrowserContext, Page } from 'playwright-core';
import type { BrowserGrant } from '../port/grants.ts';
import type { Brief } from '../port/protocol.ts';
import { followWindows, type OpenedWindows } from './opened-windows.ts';
import { type Chromium, startChromium } from './start-chromium.ts';

/** Pixels. */
export const VIEWPORT: { readonly width: number; readonly height: number } = { width: 1280, height: 800 };
const MAX_PAGES = 5;
const START_TIMEOUT_MS = 20_000;

export interface Browser {
  /** The page in front: the newest open one; undefined when none is open, such as after the last one crashed. */
  front(): Page | undefined;
  newPage(): Promise<Page>;
  /** Starts to follow the windows that pages open. */
  openedFromNow(): OpenedWindows;
  /** Why a host could not be reached, in a sentence; null when unknown. */
  refusalOf(host: string): string | null;
  /** Why a page isn't there in time, in a sentence, when that is the look-up of a name; null when it is anything else. */
  unresolved(): string | null;
  alive(): boolean;
  /** Ends the browser and all its processes. */
  close(): Promise<void>;
}

/** Starts a browser. If that fails, throws with a message for the model. */
export async function openBrowser(
  grant: BrowserGrant,
  { runId, egress }: Pick<Brief, 'runId' | 'egress'>,
): Promise<Browser> {
  const [{ chromium: playwright }, chromium] = await Promise.all([
    import('playwright-core'),
    startChromium({ grant, policy: { purpose: 'web_fetch', allow: egress }, runId }),
  ]);
  let alive = true;
  void chromium.ended.then(() => {
    alive = false;
  });
  try {
    const gone = chromium.ended.then((how) => Promise.reject(new Error(`${how}. ${lastLine(chromium)}`)));
    gone.catch(() => undefined);
    const connecting = playwright.connectOverCDP(chromium.transport, {
      timeout: START_TIMEOUT_MS,
      artifactsDir: chromium.folder,
    });
    connecting.catch(() => undefined);
    const browser = await Promise.race([connecting, gone]);
    browser.once('disconnected', () => {
      alive = false;
    });
    const context = await browser.newContext({ viewport: VIEWPORT, acceptDownloads: false, serviceWorkers: 'block' });
    context.setDefaultTimeout(grant.timeoutMs);
    // In this order: a window that has arrived is in front.
    const pages = followPages(context);
    const openedFromNow = await followWindows(browser, context);
    return {
      front: () => pages.at(-1),
      newPage: () => context.newPage(),
      openedFromNow,
      refusalOf: chromium.refusalOf,
      unresolved: chromium.unresolved,
      alive: () => alive,
      close: chromium.close,
    };
  } catch (error) {
    await chromium.close();
    throw new Error(`The browser could not be started: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** The open pages, oldest first. A new page comes to the front; above the limit, the oldest page is closed. */
function followPages(context: BrowserContext): readonly Page[] {
  const pages: Page[] = [];
  context.on('page', (page) => {
    pages.push(page);
    if (pages.length > MAX_PAGES)
      void pages
        .shift()
        ?.close()
        .catch(() => undefined);
    const leave = () => {
      const at = pages.indexOf(page);
      if (at !== -1) pages.splice(at, 1);
    };
    page.once('close', leave);
    page.once('crash', () => {
      leave();
      void page.close().catch(() => undefined);
    });
    // A page that asks for confirmation before it is left is left anyway.
    page.on('dialog', (dialog) => {
      void (dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss()).catch(() => undefined);
    });
  });
  return pages;
}

const lastLine = (chromium: Chromium) => chromium.complaint().trim().split('\n').at(-1) ?? '';
