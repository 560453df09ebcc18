// Pictures of Office Mode in a browser, taken by Chromium while the agents of the fixture work.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { type DaemonProcess, runErrand } from '../../test/support/daemon/daemon-process.ts';
import { CHROMIUM, look, startBrowser } from '../../test/support/publishing/look.ts';

interface OfficeScene {
  readonly name: string;
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
  /** What is opened there before the picture is taken; what is shown then. */
  readonly open?: (page: Page) => Promise<void>;
  readonly until: readonly string[];
}

export const OFFICE_SCENES: readonly OfficeScene[] = [
  { name: 'office-floor', colorScheme: 'light', width: 1256, height: 500, until: ['Open invoices'] },
  {
    name: 'office-desk',
    colorScheme: 'dark',
    width: 1120,
    height: 760,
    open: (page) => page.getByRole('link', { name: /Letters from the harbour office/ }).click(),
    until: ['Summary for the council', 'Session: live'],
  },
  { name: 'office-phone', colorScheme: 'dark', width: 390, height: 780, until: ['Open invoices'] },
];

/** Takes them all. Without Chromium it says so, and takes none. */
export async function takeOffice(daemon: DaemonProcess, folder: string): Promise<void> {
  if (!existsSync(CHROMIUM)) return void process.stdout.write(`no pictures of a browser: there is no ${CHROMIUM}\n`);
  const browser = await startBrowser(CHROMIUM);
  try {
    for (const scene of OFFICE_SCENES) await take(scene, { daemon, browser, folder });
  } finally {
    await browser.close();
  }
}

interface Studio {
  readonly daemon: DaemonProcess;
  readonly browser: Browser;
  readonly folder: string;
}

async function take(scene: OfficeScene, { daemon, browser, folder }: Studio): Promise<void> {
  const { name, colorScheme, width, height, open, until } = scene;
  const { stdout } = await runErrand(['office', '--web', '--data-dir', daemon.dataDir]);
  const link = /https?:\S+#code=\S+/.exec(stdout)![0];
  const { page, close } = await look(browser, link, { colorScheme, viewport: { width, height } });
  await page.getByText('Open invoices').first().waitFor();
  await open?.(page);
  for (const text of until) await page.getByText(text).first().waitFor({ state: 'attached' });
  const png = await page.screenshot({ path: join(folder, `${name}.png`) });
  await close();
  process.stdout.write(`${name}.png ${png.length} bytes\n`);
}
