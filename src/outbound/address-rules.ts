// Which host, address and port a policy allows. Without an exception: public addresses on ports 80 and 443.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { EgressRule } from '../domain/egress.ts';
import { type Address, rangeOf, readAddress } from './address-range.ts';
import type { EgressPolicy } from './egress.ts';
import { embeddedAddresses } from './embedded-address.ts';

/** The target of a connection: a name in lower case or an address without brackets, and a port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const WEB_PORTS: readonly number[] = [80, 443];
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Where clouds serve secrets to their own machines, in addition to link-local addresses. */
const CLOUD_SERVICES = ['100.100.100.200', '168.63.129.16', 'fd00:ec2::/32', 'fd20:ce::254'].map(rangeOf);

/** Ranges that a rule opens only by address: a name that resolves there is a mistake or an attack. */
const NEVER_BY_NAME: ReadonlySet<string> = new Set(['linkLocal', 'unspecified', 'multicast', 'broadcast', 'reserved']);

/** The target of an http or https address. */
export function hostPortOf(url: URL): HostPort {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { host: plainHost(url.hostname), port };
}

/** A host without the brackets of an IPv6 address and without the trailing dot. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

/** Whether the port is allowed for some address of this host; known before its name is resolved. */
export function mayUsePort({ purpose, allow }: EgressPolicy, { host, port }: HostPort): boolean {
  if (WEB_PORTS.includes(port)) return true;
  return allow.some(
    (rule) => concerns(rule, purpose, port) && (rule.cidr !== null || (isIP(host) === 0 && namesHost(rule, host))),
  );
}

/** Whether a connection to this address of the host is allowed. */
export function mayConnect({ purpose, allow }: EgressPolicy, { host, port }: HostPort, address: string): boolean {
  const parsed = readAddress(address);
  if (parsed === null) return false;
  const rules = allow.filter((rule) => concerns(rule, purpose, port));
  if (rules.some((rule) => namesAddress(rule, parsed))) return true;
  const isNamed = isIP(host) === 0 && rules.some((rule) => namesHost(rule, host));
  if (isNamed && mayBeNamed(parsed)) return true;
  return WEB_PORTS.includes(port) && isPublic(parsed);
}

function concerns(rule: EgressRule, purpose: EgressPolicy['purpose'], port: number): boolean {
  return rule.for.includes(purpose) && (rule.ports === null || rule.ports.includes(port));
}

function namesHost({ host: named }: EgressRule, host: string): boolean {
  if (named === null) return false;
  return named.startsWith('*.') ? host.endsWith(named.slice(1)) && host.length >= named.length : host === named;
}

function namesAddress({ cidr }: EgressRule, address: Address): boolean {
  if (cidr === null) return false;
  return rangeOf(cidr)(address);
}

/** Whether a name in a rule may resolve to this address, and to every address embedded in it. */
function mayBeNamed(address: Address): boolean {
  if (NEVER_BY_NAME.has(address.range()) || isCloudService(address)) return false;
  return embeddedAddresses(address).every(mayBeNamed);
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || isCloudService(address)) return false;
  if (!embeddedAddresses(address).every(isPublic)) return false;
  // The library classifies unknown IPv6 ranges as unicast.
  return address.kind() === 'ipv4' || address.match(GLOBAL_IPV6);
}

function isCloudService(address: Address): boolean {
  return CLOUD_SERVICES.some((holds) => holds(address));
}
