// What a model is shown of a page: its title, its address, and its content with a reference for each usable element.
import type { Page } from 'playwright-core';

/** Characters of a page that are shown at a time. */
const SHOWN_CHARACTERS = 20_000;
const SETTLE_MS = 1_500;
const SNAPSHOT_MS = 15_000;

/** Waits briefly for what an action started, such as a page load or a script. Never rejects. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('domcontentloaded', { timeout: SETTLE_MS }).catch(() => undefined);
  await page.waitForLoadState('networkidle', { timeout: SETTLE_MS }).catch(() => undefined);
}

/**
 * The page as text, from a given character on. References such as `[ref=e12]` are valid while the page stays unchanged.
 * `status`: HTTP status of the page, when it is an error.
 */
export async function viewOf(page: Page, from = 0, status?: number): Promise<string> {
  // A frame that never responds must not use up the time of the whole action.
  const snapshot = await page.ariaSnapshot({ mode: 'ai', timeout: SNAPSHOT_MS });
  const head = [`Page: ${oneLine(await page.title()) || '(no title)'}`, `Address: ${oneLine(page.url())}`];
  if (status !== undefined && status >= 400) head.push(`The server replied with status ${status}.`);
  const shown = snapshot.slice(from, from + SHOWN_CHARACTERS);
  const left = snapshot.length - from - shown.length;
  const body = shown.trim() === '' ? '(nothing to read)' : shown;
  const tail = left > 0 ? `\n[${left} more characters: call browser_read with offset ${from + SHOWN_CHARACTERS}.]` : '';
  return `${head.join('\n')}\n\n${body}${tail}`;
}

const oneLine = (text: string) => text.slice(0, 2_000).replaceAll(/\s+/g, ' ').trim();
