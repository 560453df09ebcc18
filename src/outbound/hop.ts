// One request of a redirect chain: which addresses are accepted, and what is sent to the next.
import { EgressError } from './egress.ts';

export interface Hop {
  readonly url: URL;
  readonly method: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

/** Default number of redirects that are followed. */
export const MAX_REDIRECTS = 5;

/** Headers that reveal nothing to another host: all others may be credentials. */
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'user-agent',
  'mcp-protocol-version',
]);

/** Headers that belong to the connection, not to the request. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const FOLLOWED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Parses an address. Throws `EgressError` for anything but http and https, and for a user name or password in it. */
export function readUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new EgressError('refused', 'That is not a valid web address.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new EgressError('refused', 'Only http and https addresses may be reached.');
  if (url.username !== '' || url.password !== '')
    throw new EgressError('refused', 'A web address must not contain a user name or password.');
  url.hash = '';
  return url;
}

/** Headers by names in lower case, without those that belong to the connection. */
export function readHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  const lower = [...headers].map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(lower.filter(([name]) => !OF_THE_CONNECTION.has(name)));
}

/**
 * The request that a redirect asks for; null when the reply isn't a redirect. Another host, port or scheme gets only headers
 * that reveal nothing, even if the chain returns to the first one.
 */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | null {
  if (!FOLLOWED.has(status) || location === undefined) return null;
  const url = readUrl(location, hop.url);
  const becomesGet = status === 303 ? hop.method !== 'HEAD' : status < 303 && hop.method === 'POST';
  const isElsewhere = url.origin !== hop.url.origin;
  const headers = Object.entries(hop.headers).filter(
    ([name]) => !(isElsewhere && !HARMLESS.has(name)) && !(becomesGet && name.startsWith('content-')),
  );
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: Object.fromEntries(headers),
    body: becomesGet ? null : hop.body,
  };
}
