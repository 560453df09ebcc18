// Addresses, and the address ranges of the configuration.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Whether a text is a range such as `10.0.0.0/8`, or a single address. IPv4 must not be written as IPv6. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || more.length > 0) return false;
  if (ipaddr.process(address).kind() !== `ipv${family}`) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** An address as it is connected to: an IPv4-mapped IPv6 address becomes IPv4. Null for an invalid address. */
export function readAddress(text: string): Address | null {
  // An address with a zone belongs to one link.
  if (isIP(text) === 0 || text.includes('%')) return null;
  return ipaddr.process(text);
}

/** The test of addresses for a range that `isAddressRange` accepts. */
export function rangeOf(text: string): (address: Address) => boolean {
  const [first, bits] = text.split('/');
  const range = ipaddr.parse(first!);
  const length = bits === undefined ? range.toByteArray().length * 8 : Number(bits);
  return (address) => range.kind() === address.kind() && address.match(range, length);
}

/**
 * The network that a client's address counts for: an IPv4 address itself; of an IPv6 address the first half, since one
 * subscriber has all addresses of the other half.
 */
export function networkOf(text: string): string {
  // A zone specifies the link of an address.
  const [plain = ''] = text.split('%');
  const address = readAddress(plain);
  if (address === null) return plain;
  if (address instanceof ipaddr.IPv4) return address.toString();
  return address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}
