// What a model is told of a page: its title, its address, and its content with a reference for all that can be used.
import type { Page } from 'playwright-core';

/** Characters of a page that are shown at a time. */
const SHOWN_CHARACTERS = 20_000;
const SETTLE_MS = 1_500;
const SNAPSHOT_MS = 5_000;

/** Waits a moment for what an action has set going: a page that loads, a script that answers. Never rejects. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('domcontentloaded', { timeout: SETTLE_MS }).catch(() => undefined);
  await page.waitForLoadState('networkidle', { timeout: SETTLE_MS }).catch(() => undefined);
}

/**
 * The page as text, from a character on. References such as `[ref=e12]` name elements for as long as the page stays as it is.
 * `status`: of the reply that the page came with, when it is an error.
 */
export async function viewOf(page: Page, from = 0, status?: number): Promise<string> {
  // A frame that never answers must not take the time of a whole action.
  const snapshot = await page.ariaSnapshot({ mode: 'ai', timeout: SNAPSHOT_MS });
  const head = [`Page: ${oneLine(await page.title()) || '(no title)'}`, `Address: ${oneLine(page.url())}`];
  if (status !== undefined && status >= 400) head.push(`The server answered with status ${status}.`);
  const shown = snapshot.slice(from, from + SHOWN_CHARACTERS);
  const left = snapshot.length - from - shown.length;
  const body = shown.trim() === '' ? '(nothing to read)' : shown;
  const tail = left > 0 ? `\n[${left} more characters: call browser_read with offset ${from + SHOWN_CHARACTERS}.]` : '';
  return `${head.join('\n')}\n\n${body}${tail}`;
}

const oneLine = (text: string) => text.slice(0, 2_000).replaceAll(/\s+/g, ' ').trim();
