// Pictures of the pages for people, taken by Chromium from a real daemon.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { CHROMIUM, look, startBrowser } from '../../test/support/publishing/look.ts';
import { type Gallery, startGallery } from '../../test/support/publishing/gallery.ts';
import { SAMPLES } from '../../test/support/publishing/samples.ts';

interface PageScene {
  readonly name: string;
  /** The name of the page; the board without. */
  readonly page?: string;
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
}

export const PAGE_SCENES: readonly PageScene[] = [
  { name: 'share-board', colorScheme: 'light', width: 960, height: 560 },
  { name: 'share-page', page: 'Survey of the north quay', colorScheme: 'light', width: 960, height: 640 },
  { name: 'share-dark', page: 'Tides of this week', colorScheme: 'dark', width: 960, height: 560 },
  { name: 'share-report', page: 'Siltation of the north quay', colorScheme: 'light', width: 1360, height: 720 },
  { name: 'share-table', page: 'Soundings of 2026', colorScheme: 'light', width: 960, height: 560 },
  { name: 'share-narrow', page: 'Survey of the north quay', colorScheme: 'dark', width: 360, height: 720 },
];

const ON_BOARD = { public_to_board_enabled: true };
const NEW_PAGES = [
  {
    name: 'Siltation of the north quay',
    entry_path: '/report/index.md',
    category: 'Surveys',
    description: 'Eleven days of soundings, and what they mean for the winter.',
  },
  {
    name: 'Soundings of 2026',
    entry_path: '/soundings.csv',
    category: 'Data',
    description: 'By station and hour, corrected by the gauge.',
  },
  {
    name: 'Raw soundings',
    entry_path: '/soundings.zip',
    category: 'Data',
    description: 'All of October as CSV, one file a day.',
  },
  { name: 'Harbour bell', entry_path: '/bell.wav', category: 'Recordings' },
  { name: 'The quay at dusk', entry_path: '/quay.png', category: 'Pictures' },
  {
    name: 'Correction of soundings',
    entry_path: '/soundings.py',
    category: 'Data',
    description: 'The script that every survey uses.',
  },
  {
    name: 'Tides of this week',
    entry_path: '/tides/index.html',
    category: 'Dashboards',
    description: 'High and low water, from the gauge of the harbour office.',
  },
  {
    name: 'Survey of the north quay',
    entry_path: '/survey/index.md',
    category: 'Surveys',
    description: 'Soundings of October, with what changed since spring and how the figures were made.',
    tags: ['quay', 'soundings'],
  },
];

/** Takes them all. Without Chromium it says so, and takes none. */
export async function takePages(folder: string): Promise<void> {
  if (!existsSync(CHROMIUM)) return void process.stdout.write(`no pictures of pages: there is no ${CHROMIUM}\n`);
  const [gallery, browser] = await Promise.all([startGallery(), startBrowser(CHROMIUM)]);
  try {
    const keys = await publishAll(gallery);
    for (const scene of PAGE_SCENES) await take(scene, { keys, browser, url: gallery.daemon.url, folder });
  } finally {
    await browser.close();
    await gallery.close();
  }
}

async function publishAll({ daemon, make, publish, release }: Gallery): Promise<ReadonlyMap<string, string>> {
  await daemon.admin('PATCH', `/api/v1/users/${daemon.adminName}`, { full_name: 'Ann Keller', department: 'Research' });
  await make(SAMPLES);
  const keys = new Map<string, string>();
  for (const page of NEW_PAGES) keys.set(page.name, (await publish({ ...page, ...ON_BOARD })).key);
  for (const key of keys.values()) await release(key);
  return keys;
}

interface Studio {
  readonly keys: ReadonlyMap<string, string>;
  readonly browser: Browser;
  readonly url: string;
  readonly folder: string;
}

async function take({ name, page, colorScheme, width, height }: PageScene, { keys, browser, url, folder }: Studio) {
  const address = page === undefined ? `${url}/share` : `${url}/share/p/${keys.get(page)}`;
  const opened = await look(browser, address, { colorScheme, viewport: { width, height } });
  // Pictures further down begin to load when the page has.
  await opened.page.waitForLoadState('networkidle');
  const png = await opened.page.screenshot({ path: join(folder, `${name}.png`) });
  await opened.close();
  process.stdout.write(`${name}.png ${png.length} bytes\n`);
}
