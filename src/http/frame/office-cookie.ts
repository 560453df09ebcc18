// The one cookie that is read, by the guard `web` alone: that of a browser which has logged in to Office Mode (0054).
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ErrandError } from '../../domain/errors.ts';

export const OFFICE_COOKIE = 'errand_office';

const VALUE = /^[\w-]{43}$/;

/**
 * The cookie of a request, or null when it has none, or when a page of another origin has made it. Throws `unauthenticated` for two that
 * differ: another host of the same site may have set one.
 */
export function readOfficeCookie({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return null;
  const values = new Set(valuesOf(headers));
  if (values.size > 1) throw new ErrandError('unauthenticated', 'The request carries two different cookies.');
  const [value] = values;
  return value !== undefined && VALUE.test(value) ? value : null;
}

function valuesOf({ cookie = '' }: IncomingHttpHeaders): string[] {
  return cookie.split(';').flatMap((pair) => {
    const [name, ...value] = pair.trim().split('=');
    return name === OFFICE_COOKIE ? [value.join('=')] : [];
  });
}

/**
 * Throws `forbidden` unless a page of our own makes the request. Browsers say so themselves, but over plain HTTP: there they name the
 * origin, which is ours if it is that of `public_url` or of the address that was asked.
 */
export function requireOwnPage({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string): void {
  const { origin, host, 'sec-fetch-site': site } = headers;
  const isOwn = site === undefined ? origin === undefined || isOrigin(origin, host, publicUrl) : site === 'same-origin';
  if (!isOwn) throw new ErrandError('forbidden', 'Pages of other origins can’t log in or out.');
}

function isOrigin(text: string, host: string | undefined, publicUrl: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.host === host || url.origin === URL.parse(publicUrl)?.origin);
}
