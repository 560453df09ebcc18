// Who a request is from: the peer, or whom a trusted proxy says that it speaks for.
import type { IncomingMessage } from 'node:http';
import { type Address, rangeOf, readAddress } from '../../outbound/address-range.ts';
import { isViaSocket } from '../frame/credentials.ts';

/** Answers whether a peer's address is that of a proxy in `trusted_proxies`. Of what is no address: no. */
export type IsTrustedProxy = (address: string) => boolean;

/** Makes the question. The ranges are read anew when the settings have another list. */
export function makeIsTrustedProxy(trustedProxies: () => readonly string[]): IsTrustedProxy {
  let list: readonly string[] = [];
  let ranges: readonly ((address: Address) => boolean)[] = [];
  return (text) => {
    const current = trustedProxies();
    if (current !== list) [list, ranges] = [current, current.map(rangeOf)];
    if (ranges.length === 0) return false;
    const address = readAddress(text);
    return address !== null && ranges.some((holds) => holds(address));
  };
}

/** The address that a request counts for: `socket` on the Unix socket, `gone` when its connection is no more. */
export type ClientAddressOf = (req: IncomingMessage) => string;

/**
 * Makes the reader. `X-Forwarded-For` is read from a trusted proxy only, from its right end: each proxy appends the
 * address that it was reached from, and what stands left of the first one that is not trusted anybody can have written.
 */
export function makeClientAddressOf(isTrustedProxy: IsTrustedProxy): ClientAddressOf {
  return (req) => {
    if (isViaSocket(req)) return 'socket';
    let address = req.socket.remoteAddress ?? 'gone';
    // Node joins repeated headers of this name in their order.
    const hops = String(req.headers['x-forwarded-for'] ?? '').split(',');
    while (hops.length > 0 && isTrustedProxy(address)) {
      const hop = readHop(hops.pop()!);
      // A proxy that names nobody speaks for itself.
      if (hop === null) break;
      address = hop;
    }
    return address;
  };
}

/** One entry, without the brackets and the port that some proxies write. Null when it is no address. */
function readHop(entry: string): string | null {
  const text = entry.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  return readAddress(bracketed ?? dotted ?? text)?.toString() ?? null;
}
