// The one cookie that is read, by the guard `web` alone: that of a browser which has logged in to Office Mode (0054).
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ErrandError } from '../../domain/errors.ts';

const VALUE = /^[\w-]{43}$/;
/** A request to log out ends so many cookies at most. */
const MOST_ENDED = 4;

/**
 * The cookie of a request, or null when it has none, or when a page of another origin has made it. Throws `unauthenticated` for two that
 * differ: another host of the same site may have set one.
 */
export function readOfficeCookie({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return null;
  const values = valuesOf(headers, name);
  if (values.size > 1) throw new ErrandError('unauthenticated', 'The request carries two different cookies.');
  const [value] = values;
  return value !== undefined && VALUE.test(value) ? value : null;
}

/** All that a browser has under the name, of which another host of the same site may have set some: the first few. */
export const officeCookiesOf = ({ headers }: Pick<IncomingMessage, 'headers'>, name: string): readonly string[] =>
  [...valuesOf(headers, name)].filter((value) => VALUE.test(value)).slice(0, MOST_ENDED);

function valuesOf({ cookie = '' }: IncomingHttpHeaders, name: string): ReadonlySet<string> {
  const values = cookie.split(';').flatMap((pair) => {
    const [given, ...value] = pair.trim().split('=');
    return given === name ? [value.join('=')] : [];
  });
  return new Set(values);
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
