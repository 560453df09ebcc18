// The parts of the listening address, and the address that clients use.
import { isIPv4, isIPv6 } from 'node:net';

/** The parts of a listening address; null when it is not `HOST:PORT`. IPv6 hosts are in brackets, and returned without. */
export function parseListen(listen: string): { readonly host: string; readonly port: number } | null {
  const [, bracketed, plain = '', digits] = /^(?:\[([^\]]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits ?? Number.NaN);
  if (!(port <= 65_535)) return null;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : null;
  if (/^[0-9.]+$/.test(plain) && !isIPv4(plain)) return null;
  return { host: plain, port };
}

const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The base URL of a daemon that listens there, where none is set. */
export function publicUrlFor(listen: string): string {
  const { host, port } = parseListen(listen) ?? { host: listen, port: 80 };
  const reachable = EVERYWHERE[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Whether it can be a provider's user-info URL, or is empty, for no provider. Its query can have further parameters. */
export function isUserinfoUrl(value: string): boolean {
  if (value === '') return true;
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[#\s]/.test(value);
}

/** Whether it can be the base URL that clients use. */
export function isPublicUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[?#\s]/.test(value);
}

/** Whether it can be the origin of the host for shares, or is empty, for no such host. */
export function isShareOrigin(value: string): boolean {
  return value === '' || (isPublicUrl(value) && new URL(value).pathname === '/');
}

/** Whether requests for both addresses name the same host, so that nothing tells them apart. */
export function haveSameHost(one: string, other: string): boolean {
  return URL.parse(one)?.host === URL.parse(other)?.host;
}
