// The IPv4 addresses embedded in IPv6 ones: a translating or tunnelling gateway may forward a connection to them.
import ipaddr from 'ipaddr.js';
import { type Address, rangeOf } from './address-range.ts';

/** One way to embed an IPv4 address: in which addresses, and at which of their bytes. */
interface Embedding {
  readonly holds: (address: Address) => boolean;
  readonly at: readonly number[];
  readonly inverted?: true;
}

const LAST = [12, 13, 14, 15];

const inCompatible = rangeOf('::/96');
const inNone = rangeOf('::/104');

/** Neither the loopback address `::1` nor `::`. */
function isCompatible(address: Address): boolean {
  return inCompatible(address) && !inNone(address);
}

/** The interface identifier of ISATAP, below any prefix (RFC 5214). */
function isIsatap(address: Address): boolean {
  const [first, second, ...rest] = address.toByteArray().slice(8, 12);
  return (first === 0x00 || first === 0x02) && second === 0 && rest[0] === 0x5e && rest[1] === 0xfe;
}

const EMBEDDINGS: readonly Embedding[] = [
  // Compatible, mapped and translated (RFC 4291, RFC 2765).
  { holds: isCompatible, at: LAST },
  { holds: rangeOf('::ffff:0:0/96'), at: LAST },
  { holds: rangeOf('::ffff:0:0:0/96'), at: LAST },
  // NAT64, with the well-known prefix and the local-use prefixes of each length (RFC 6052, RFC 8215).
  { holds: rangeOf('64:ff9b::/96'), at: LAST },
  ...[LAST, [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]].map((at) => ({ holds: rangeOf('64:ff9b:1::/48'), at })),
  { holds: rangeOf('2002::/16'), at: [2, 3, 4, 5] },
  // Teredo: the server, and the client with its bits inverted (RFC 4380).
  { holds: rangeOf('2001::/32'), at: [4, 5, 6, 7] },
  { holds: rangeOf('2001::/32'), at: LAST, inverted: true },
  { holds: isIsatap, at: LAST },
];

/** Every IPv4 address that this one may represent; none for an IPv4 address. */
export function embeddedAddresses(address: Address): readonly Address[] {
  if (address.kind() === 'ipv4') return [];
  const bytes = address.toByteArray();
  return EMBEDDINGS.filter(({ holds }) => holds(address)).map(({ at, inverted }) =>
    ipaddr.fromByteArray(at.map((index) => bytes[index]! ^ (inverted ? 0xff : 0))),
  );
}
