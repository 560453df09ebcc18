// A page of the office, opened in a real browser before a scripted daemon.
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { look, type Look } from '../publishing/look.ts';
import { waitFor } from '../time/wait-for.ts';
import { type OfficePage, startOfficePage } from './office-page.ts';
import { type OfficeServer, sessionId, startOfficeServer } from './office-server.ts';

export interface Visit extends Look {
  readonly daemon: OfficeServer;
  readonly office: OfficePage;
  /** What is on the page. */
  readonly text: () => Promise<string>;
  readonly until: (text: string | RegExp) => Promise<unknown>;
}

/** A key that is good. */
export const KEY = 'ek-looks-on';

/** Where it begins, and whether with a cookie. */
export type VisitOptions = { place?: string; isKnown?: boolean } & BrowserContextOptions;

/** Opens a place of the office. */
export async function visitOffice(
  browser: Browser,
  daemon: OfficeServer,
  { place = '', isKnown = true, ...options }: VisitOptions = {},
): Promise<Visit> {
  const office = await startOfficePage(daemon);
  onTestFinished(() => office.close());
  office.keys.add(KEY);
  office.codes.add('first');
  const seen = await look(browser, `${office.root}${place}${isKnown ? '#code=first' : ''}`, options);
  onTestFinished(() => seen.close());
  const text = () => seen.page.locator('#office').innerText();
  const until = async (wanted: string | RegExp) => {
    const isThere = async () => {
      const now = await text();
      return typeof wanted === 'string' ? now.includes(wanted) : wanted.test(now);
    };
    return waitFor(isThere, { what: String(wanted) }).catch(async (error: unknown) => {
      throw new Error(`${String(wanted)} is not in:\n${await text()}\n${seen.complaints.join('\n')}`, { cause: error });
    });
  };
  return { ...seen, daemon, office, text, until };
}

/** A daemon whose session 1 has no rounds. */
export async function aDaemon(...given: Parameters<typeof startOfficeServer>): Promise<OfficeServer> {
  const daemon = await startOfficeServer(...given);
  daemon.ofSession.set('run-rounds', { session_id: sessionId(1), items: [], total: 0, limit: 1, offset: 0 });
  onTestFinished(() => daemon.die());
  return daemon;
}
