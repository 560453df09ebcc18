// The address that the daemon listens on, in its parts, and what it is reached by.
import { isIPv4, isIPv6 } from 'node:net';

/** A listening address in its parts; null when it is not `HOST:PORT`. IPv6 hosts stand in brackets, and come without. */
export function parseListen(listen: string): { readonly host: string; readonly port: number } | null {
  const [, bracketed, plain = '', digits] = /^(?:\[([^\]]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits ?? Number.NaN);
  if (!(port <= 65_535)) return null;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : null;
  if (/^[0-9.]+$/.test(plain) && !isIPv4(plain)) return null;
  return { host: plain, port };
}

const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The base address of a daemon that listens there and has no other name. */
export function publicUrlFor(listen: string): string {
  const { host, port } = parseListen(listen) ?? { host: listen, port: 80 };
  const reachable = EVERYWHERE[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Whether a provider can be asked there, or the text says that there is none: it is empty. Its query may have further parameters. */
export function isUserinfoUrl(value: string): boolean {
  if (value === '') return true;
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[#\s]/.test(value);
}

/** Whether it can be the base address that clients reach the daemon by. */
export function isPublicUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[?#\s]/.test(value);
}
