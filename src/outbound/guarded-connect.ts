// Connections only to where a policy allows: each address is checked and then used for the connection.
import type { LookupAddress } from 'node:dns';
import { connect, isIP, type Socket } from 'node:net';
import type { Agent, buildConnector, Client } from 'undici';
import { KB } from '../domain/byte-units.ts';
import { mayConnect, mayUsePort, type HostPort, hostPortOf } from './address-rules.ts';
import { EgressError, type EgressPolicy } from './egress.ts';
import { type LookUps, noAddress } from './look-ups.ts';
import { answering, makeConnector } from './ways/connector.ts';
import { hostThrough, proxyFor } from './ways/proxy-rules.ts';
import { openTunnel } from './ways/tunnel.ts';
import { WayError } from './ways/way-error.ts';
import { waysNow } from './ways/ways.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 4_000;
/** At most this long, whatever a server offers. */
const LONGEST_KEEP_ALIVE_MS = 60_000;
const MAX_HEADER_BYTES = 64 * KB;

/** Options of all connections. The sender of a request sets its time limit. */
const CONNECTIONS = {
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: MAX_HEADER_BYTES,
} as const;

/**
 * All addresses that a connection to the target may use. Throws `EgressError`: `refused` when any of them is not allowed, so
 * that no name mixes allowed and forbidden ones, but for names of this machine, and when it has none.
 */
async function resolveHost(policy: LookUps['policy'], target: HostPort): Promise<readonly LookupAddress[]> {
  const { host } = target;
  requireForm(policy, target);
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const addresses = await policy.resolve(host).catch((error: unknown) => {
    throw noAddress(host, error);
  });
  if (addresses.length === 0) throw noAddress(host, new Error('The name has no address.'));
  const allowed = addresses.filter(({ address }) => mayConnect(policy, target, address));
  // Both addresses of this machine are one and the same to whoever names it, and one of them may be all that a rule lists.
  if (allowed.length === addresses.length || (LOCAL_NAME.test(host) && allowed.length > 0)) return allowed;
  throw noAddress(host, new Error(`${host} has an address that is not on the public internet.`));
}

/**
 * Throws `EgressError` of the kind `refused` for a target that is known to be refused before any name is resolved: for its port, as an
 * address, or as a name of this machine.
 */
export function requireForm(policy: EgressPolicy, target: HostPort): void {
  const { host, port } = target;
  // A proxy or a system may take such dots away, and reach the address or the local name before them.
  if (isIP(host) === 0 && host.split('.').includes(''))
    throw new EgressError('refused', `The host ${host} may not be reached: it is no valid name.`);
  if (!mayUsePort(policy, target)) throw new EgressError('refused', `Port ${port} of ${host} may not be reached.`);
  const addresses = LOCAL_NAME.test(host) ? LOOPBACK : isIP(host) === 0 ? [] : [host];
  if (addresses.length === 0 || addresses.some((address) => mayConnect(policy, target, address))) return;
  throw new EgressError('refused', `The host ${host} may not be reached: it is not on the public internet.`);
}

/** Names that every system takes for itself (RFC 6761). */
const LOCAL_NAME = /^(?:.+\.)?localhost$/;
/** What they may resolve to. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/** Opens a plain connection to the target of an address, waiting at most ten seconds. Throws `EgressError`. */
export async function connectTo(policy: LookUps['policy'], url: URL): Promise<Socket> {
  const target = hostPortOf(url);
  const ways = waysNow();
  const proxy = proxyFor(ways, url.protocol, target);
  const addresses = await vetHost(policy, target, proxy !== null && ways.proxyResolves);
  const host = proxy === null ? null : hostThrough(target, addresses);
  if (proxy === null || host === null) return connectDirectly(target, addresses);
  const tunneled = { host, port: target.port, shown: target.host };
  return openTunnel(proxy, tunneled, { timeoutMs: CONNECT_TIMEOUT_MS }).catch((error: unknown) => {
    throw error instanceof WayError ? new EgressError('unreachable', error.message, { cause: error }) : error;
  });
}

function connectDirectly(target: HostPort, addresses: readonly LookupAddress[]): Promise<Socket> {
  const socket = connect({ ...target, lookup: answering(addresses), autoSelectFamily: true, noDelay: true });
  return new Promise((done, fail) => {
    const giveUp = (cause?: unknown) => {
      socket.destroy();
      fail(new EgressError('unreachable', `The host ${target.host} could not be reached.`, { cause }));
    };
    const timer = setTimeout(giveUp, CONNECT_TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.once('error', giveUp);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', giveUp);
      done(socket);
    });
  });
}

/** HTTP connections under a policy. */
export async function openAgent(policy: LookUps['policy']): Promise<Agent> {
  // Loaded with the first request: a daemon that sends none does not need it.
  const undici = await import('undici');
  return new undici.Agent({ ...CONNECTIONS, connect: guarded(policy, undici.buildConnector) });
}

/** One HTTP connection under a policy, opened by its first request. Whatever it is doing ends when `ended` aborts. */
export async function openClient(policy: LookUps['policy'], origin: string, ended: AbortSignal): Promise<Client> {
  const undici = await import('undici');
  const client = new undici.Client(origin, {
    ...CONNECTIONS,
    keepAliveMaxTimeout: LONGEST_KEEP_ALIVE_MS,
    connect: guarded(policy, undici.buildConnector, ended),
  });
  ended.addEventListener('abort', () => void client.destroy(), { once: true });
  return client;
}

/** The library's `lookup` option alone would let addresses in the URL through: it isn't called for them. */
function guarded(
  policy: LookUps['policy'],
  build: typeof buildConnector,
  ended?: AbortSignal,
): buildConnector.connector {
  const vet = (target: HostPort, byProxy: boolean) => vetHost(policy, target, byProxy);
  return makeConnector({ build, timeoutMs: CONNECT_TIMEOUT_MS, caFile: policy.caFile, vet, ended });
}

/** As `resolveHost`. A proxy that resolves names decides where they lead; then only the form is checked, and nothing is returned. */
async function vetHost(
  policy: LookUps['policy'],
  target: HostPort,
  byProxy: boolean,
): Promise<readonly LookupAddress[]> {
  if (!byProxy || isIP(target.host) !== 0) return resolveHost(policy, target);
  requireForm(policy, target);
  return [];
}
