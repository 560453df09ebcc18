// Windows that pages open: known when the browser makes one, which is some time before there is a page to show.
import type { Browser, BrowserContext } from 'playwright-core';

/** The windows that were opened since some moment. */
export interface OpenedWindows {
  /**
   * Waits until there is a page for as many as were opened; at once when that is so already, as when none was. False when
   * the time of an action is over first: the server of a window's page has not answered. Never rejects.
   */
  arrive(): Promise<boolean>;
}

/** Follows them for as long as the browser runs. Each call of what it resolves with starts counting from there. */
export async function followWindows(browser: Browser, context: BrowserContext): Promise<() => OpenedWindows> {
  let opened = 0;
  let arrived = 0;
  // The browser tells of a window before it answers the click that opened it. Of one that it refused to open it tells nothing.
  const session = await browser.newBrowserCDPSession();
  session.on('Target.targetCreated', ({ targetInfo }) => {
    if (targetInfo.type === 'page' && targetInfo.openerId !== undefined) opened += 1;
  });
  // Playwright has a page once the server has answered, or the window is gone again.
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
