// Who a request is from: the peer, or the client that a trusted proxy names.
import type { IncomingMessage } from 'node:http';
import { type Address, rangeOf, readAddress } from '../../outbound/address-range.ts';
import { peersOfRequest } from './peers.ts';

/** Returns whether a peer is a proxy in `trusted_proxies`, by its address or as `unix`; false for anything else. */
export type IsTrustedProxy = (address: string) => boolean;

/** Makes the check. It parses the ranges again when the setting has changed. */
export function makeIsTrustedProxy(trustedProxies: () => readonly string[]): IsTrustedProxy {
  let list: readonly string[] = [];
  let ranges: readonly ((address: Address) => boolean)[] = [];
  return (text) => {
    const current = trustedProxies();
    if (current !== list) [list, ranges] = [current, current.filter((entry) => entry !== UNIX_PEER).map(rangeOf)];
    if (text === UNIX_PEER) return list.includes(UNIX_PEER);
    if (ranges.length === 0) return false;
    const address = readAddress(text);
    return address !== null && ranges.some((holds) => holds(address));
  };
}

/** What stands for the address of a peer on a Unix socket, in `trusted_proxies` as well. */
export const UNIX_PEER = 'unix';

/**
 * The address that a request is attributed to: `socket` on the operator's socket, `unix` on another Unix socket, `gone` when
 * its connection has closed.
 */
export type ClientAddressOf = (req: IncomingMessage) => string;

/** The address of a request's peer, in the same words, whatever the request says of others. */
export function peerAddressOf(req: IncomingMessage): string {
  const peers = peersOfRequest(req);
  if (peers === 'operator') return 'socket';
  return peers === 'unix' ? UNIX_PEER : (req.socket.remoteAddress ?? 'gone');
}

/**
 * Makes the reader. `X-Forwarded-For` is read only from a trusted proxy, from the right: each proxy appends the address of
 * its peer, and anyone can have written what is left of the first address that is not trusted.
 */
export function makeClientAddressOf(isTrustedProxy: IsTrustedProxy): ClientAddressOf {
  return (req) => {
    let address = peerAddressOf(req);
    // Node joins repeated headers of this name in order.
    const hops = String(req.headers['x-forwarded-for'] ?? '').split(',');
    while (hops.length > 0 && isTrustedProxy(address)) {
      const hop = readHop(hops.pop()!);
      // A request of a proxy that names no client is the proxy's own.
      if (hop === null) break;
      address = hop;
    }
    return address;
  };
}

/** One entry, without the brackets and the port that some proxies write. Null when it isn't an address. */
function readHop(entry: string): string | null {
  const text = entry.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  return readAddress(bracketed ?? dotted ?? text)?.toString() ?? null;
}
