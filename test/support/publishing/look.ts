// A real browser that looks at pages: what they request, report and show, and what axe-core finds.
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Where Debian has it. */
export const CHROMIUM = '/usr/lib/chromium/chromium';

/** What only ends what hangs, as with `waitFor`. */
const LONGEST_MS = 120_000;

/** Starts one without a sandbox of its own, which containers have no namespaces for; it opens only what a test made. */
export function startBrowser(executablePath: string): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-software-rasterizer'];
  return chromium.launch({ executablePath, args, timeout: LONGEST_MS });
}

/** A profile of its own, in which everything may take as long as `waitFor` lets it. */
export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(LONGEST_MS);
  return context;
}

export interface Look {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console, without the status of the page itself; and errors that nobody caught. */
  readonly complaints: readonly string[];
  /** Addresses that were requested; not those within the browser. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

const WITHIN = /^(?:data|blob|chrome|chrome-extension):/;

/** Opens an address and waits until everything on it has loaded. */
export async function look(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Look> {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const isOwnStatus = message.location().url === url && message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isOwnStatus) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!WITHIN.test(request.url())) requests.push(request.url());
  });
  await page.goto(url, { waitUntil: 'load' });
  return { page, context, complaints, requests, close: () => context.close() };
}

/** What axe-core finds on the page itself, each with where it is. */
export async function findings(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(at: unknown, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const root = (globalThis as unknown as { document: unknown }).document;
    const { violations } = await axe.run(root, { iframes: false });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}
