// The parts of the listening address, and the address that clients use.
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { isAbsolute } from 'node:path';
import type { ListenTarget } from '../http/server/listen.ts';
import type { ListenerSettings } from './option.ts';

/** The kernel's limit on the path of a Unix socket, in bytes. */
export const MAX_SOCKET_PATH_BYTES = 107;

const UNIX = 'unix:';
/** As with the port of a TCP address, whoever can reach it can connect; its directory may allow fewer. */
const OPEN_TO_ALL = 0o666;

/** What to listen on; null when it is neither `HOST:PORT` nor `unix:/path`. IPv6 hosts are in brackets, and returned without. */
export function parseListen(listen: string): ListenTarget | null {
  return listen.startsWith(UNIX) ? parsePath(listen.slice(UNIX.length)) : parseHostAndPort(listen);
}

function parsePath(path: string): ListenTarget | null {
  const isUsable = isAbsolute(path) && !path.endsWith('/') && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
  return isUsable && !path.includes('\0') ? { kind: 'unix', path, mode: OPEN_TO_ALL } : null;
}

function parseHostAndPort(listen: string): ListenTarget | null {
  const [, bracketed, plain = '', digits] = /^(?:\[([^\]]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits ?? Number.NaN);
  if (!(port <= 65_535)) return null;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { kind: 'tcp', host: bracketed, port } : null;
  if (/^[0-9.]+$/.test(plain) && !isIPv4(plain)) return null;
  return { kind: 'tcp', host: plain, port };
}

/** As systemd's `ListenStream=` takes it in the daemon's place; null when it doesn't, such as a name, which systemd does not look up. */
export function streamOf(listen: string): string | null {
  const numeric = listen.replace(/^localhost:/, '127.0.0.1:');
  const target = parseListen(numeric);
  return target?.kind === 'tcp' && target.port > 0 && isIP(target.host) > 0 ? numeric : null;
}

const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The base URL of a daemon that listens there, where none is set. A Unix socket has no host: its proxy has, and is on this machine. */
export function publicUrlFor({ listen, isSecure }: ListenerSettings): string {
  const target = parseListen(listen);
  const scheme = isSecure ? 'https' : 'http';
  if (target?.kind !== 'tcp') return `${scheme}://localhost`;
  const { host, port } = target;
  const reachable = EVERYWHERE[host] ?? host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
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
