// Windows that pages open. The browser reports a window some time before its page can be shown.
import type { Browser, BrowserContext } from 'playwright-core';

/** The windows that were opened since a given moment. */
export interface OpenedWindows {
  /**
   * Waits until every opened window has a page; resolves at once when there are none to wait for. Resolves with false when the
   * action's time limit passes first because a window's server has not replied. Never rejects.
   */
  arrive(): Promise<boolean>;
}

/** Follows windows for as long as the browser runs. Each call of the returned function starts a new count. */
export async function followWindows(browser: Browser, context: BrowserContext): Promise<() => OpenedWindows> {
  let opened = 0;
  let arrived = 0;
  // The browser reports a window before it answers the click that opened it. It does not report a window that it refused to
  // open.
  const session = await browser.newBrowserCDPSession();
  session.on('Target.targetCreated', ({ targetInfo }) => {
    if (targetInfo.type === 'page' && targetInfo.openerId !== undefined) opened += 1;
  });
  // Playwright has the page once the server has replied, or the window is gone.
  context.on('page', () => {
    arrived += 1;
  });
  await session.send('Target.setDiscoverTargets', { discover: true });
  return () => {
    const missingBefore = opened - arrived;
    const areHere = () => opened - arrived <= missingBefore;
    return {
      arrive: async () =>
        areHere() ||
        context.waitForEvent('page', areHere).then(
          () => true,
          () => false,
        ),
    };
  };
}
