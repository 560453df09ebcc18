// Which proxy a connection goes through: what the settings and the usual variables say, without loopback.
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { isAddressRange, rangeOf, readAddress } from '../address-range.ts';
import { type HostPort, hostPortOf, plainHost } from '../address-rules.ts';
import { type Proxy, type Ways, waysNow } from './ways.ts';

/** The usual port of a scheme, where an address names none. */
const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

export type ProxyRead =
  | { readonly ok: true; readonly proxy: Proxy }
  /** `why` contains no part of the address. */
  | { readonly ok: false; readonly why: string };

/** Reads the address of a proxy as programs write it, also without a scheme and with credentials. */
export function readProxy(text: string): ProxyRead {
  const address = text.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme?.startsWith('socks')) return { ok: false, why: NO_SOCKS };
  const url = URL.parse(scheme === undefined ? `http://${address}` : address);
  if (url === null || url.hostname === '' || PORTS[url.protocol] === undefined || url.search + url.hash !== '')
    return { ok: false, why: 'must be the address of an HTTP proxy, such as http://proxy.example.com:3128' };
  const { protocol, hostname, username, password } = url;
  const port = url.port || PORTS[protocol];
  const credentials = username === '' && password === '' ? null : [username, password].map(decoded).join(':');
  return {
    ok: true,
    proxy: {
      url: `${protocol}//${hostname}:${port}`,
      authorization: credentials === null ? null : authorizationOf(credentials),
    },
  };
}

const NO_SOCKS =
  'names a SOCKS proxy, which is not supported: name an HTTP proxy, such as http://proxy.example.com:3128';

/** The header for `USER:PASSWORD`. */
export function authorizationOf(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The entries of `NO_PROXY`, which commas or spaces separate. */
export function readDirect(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** The proxy of a target; null when it is reached directly. Loopback always is. */
export function proxyFor(ways: Ways, protocol: string, target: HostPort): Proxy | null {
  const proxy = protocol === 'https:' ? ways.proxies['https:'] : ways.proxies['http:'];
  if (proxy === null || isLoopback(target.host)) return null;
  return ways.direct.some((entry) => concerns(entry.toLowerCase(), target)) ? null : proxy;
}

/** A proxy as messages name it: its host and port. */
export function nameOf({ url }: Proxy): string {
  const { host, hostname, protocol } = new URL(url);
  return host === hostname ? `${host}:${PORTS[protocol]}` : host;
}

/** What a message about a slow target adds, after its name; empty without a proxy. */
export function throughProxy(url: URL): string {
  const proxy = proxyFor(waysNow(), url.protocol, hostPortOf(url));
  return proxy === null ? '' : ` through the proxy ${nameOf(proxy)}`;
}

/** What a proxy is asked for, of the addresses that may be used; null when all are of this machine. Without any, it gets the name. */
export function hostThrough(target: HostPort, addresses: readonly LookupAddress[]): string | null {
  if (addresses.length === 0) return target.host;
  // To the proxy, loopback is another machine: itself.
  return addresses.find(({ address }) => !isLoopback(address))?.address ?? null;
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host === 'localhost' || host.endsWith('.localhost');
  return readAddress(host)?.range() === 'loopback';
}

/** A name stands for itself and all names below it, with or without a dot or `*.` before it. */
function concerns(entry: string, { host, port }: HostPort): boolean {
  if (entry === '*') return true;
  if (isAddressRange(entry)) {
    const address = isIP(host) === 0 ? null : readAddress(host);
    return address !== null && rangeOf(entry)(address);
  }
  const [, named = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (only !== undefined && Number(only) !== port) return false;
  const name = plainHost(named).replace(/^\*?\./, '');
  return name !== '' && (host === name || host.endsWith(`.${name}`));
}
