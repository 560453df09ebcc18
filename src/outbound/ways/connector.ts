// Opens the connections of an HTTP client: directly or through a proxy, and trusting whom this machine and its administrator trust.
import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { type HostPort, plainHost } from '../address-rules.ts';
import { watchIssuer } from './missing-issuer.ts';
import { hostThrough, proxyFor } from './proxy-rules.ts';
import { trustedContext } from './trusted.ts';
import { openTunnel } from './tunnel.ts';
import { waysNow } from './ways.ts';

export interface ConnectorParts {
  /** The maker of connectors of `undici`, which is loaded late. */
  readonly build: typeof buildConnector;
  readonly timeoutMs: number;
  /** A PEM file with issuers that are trusted for these connections in addition. */
  readonly caFile?: string | null | undefined;
  /**
   * Decides on a target before anything is opened, and returns the addresses that may be used. `byProxy`: a proxy resolves its
   * name, and there are none. Without it, any target is allowed.
   */
  readonly vet?: (target: HostPort, byProxy: boolean) => Promise<readonly LookupAddress[]>;
  /** Ends whatever is being opened, and what was opened. */
  readonly ended?: AbortSignal | undefined;
}

type Connector = buildConnector.connector;
type Asked = Parameters<Connector>[0];

/** Makes a connector. Errors of the way are a `WayError`. */
export function makeConnector(parts: ConnectorParts): Connector {
  const { vet, ended, timeoutMs } = parts;
  const connectorFor = makeConnectors(parts);
  const open = async (asked: Asked, callback: Parameters<Connector>[1]): Promise<void> => {
    const { protocol } = asked;
    const port = Number(asked.port) || (protocol === 'https:' ? 443 : 80);
    const target = { host: plainHost(asked.hostname), port };
    try {
      const ways = waysNow();
      const proxy = proxyFor(ways, protocol, target);
      const addresses = (await vet?.(target, proxy !== null && ways.proxyResolves)) ?? [];
      ended?.throwIfAborted();
      const connector = connectorFor(protocol, addresses);
      const host = proxy === null ? null : hostThrough(target, addresses);
      if (proxy === null || host === null) return watched(connector, asked, callback);
      const tunnel = await openTunnel(proxy, { host, port, shown: target.host }, { timeoutMs, ended });
      ended?.addEventListener('abort', () => tunnel.destroy(), { once: true });
      if (protocol === 'https:') watched(connector, { ...asked, httpSocket: tunnel }, callback);
      else callback(null, tunnel);
    } catch (error) {
      callback(error as Error, null);
    }
  };

  function watched(connector: Connector, asked: Asked, callback: Parameters<Connector>[1]): void {
    let explain = (error: Error) => error;
    // The library gives back the socket while it connects, which its types don't say.
    const socket = connector(asked, (...[error, opened]) => {
      if (error === null) callback(null, opened);
      else callback(explain(error), null);
    }) as unknown as Socket;
    if (asked.protocol === 'https:') explain = watchIssuer(socket as TLSSocket, asked.hostname);
    ended?.addEventListener('abort', () => socket.destroy(), { once: true });
  }

  return (asked, callback) => void open(asked, callback);
}

/** Files of issuers change rarely. */
const MAX_KEPT = 4;

/** The library's connectors. Without `vet`, they are kept, and with them the TLS sessions that they can resume. */
function makeConnectors({ build, caFile = null, timeoutMs, vet }: ConnectorParts) {
  const common = { allowH2: false, timeout: timeoutMs, autoSelectFamily: true };
  const kept = new Map<SecureContext | undefined, Connector>();
  return (protocol: string, addresses: readonly LookupAddress[]): Connector => {
    const secureContext = protocol === 'https:' ? trustedContext(waysNow(), caFile) : undefined;
    const trust = secureContext === undefined ? {} : { secureContext };
    if (vet !== undefined) return build({ ...common, ...trust, maxCachedSessions: 0, lookup: answering(addresses) });
    const known = kept.get(secureContext);
    if (known !== undefined) return known;
    if (kept.size >= MAX_KEPT) kept.clear();
    const connector = build({ ...common, ...trust });
    kept.set(secureContext, connector);
    return connector;
  };
}

/** Replaces the look-up of a name: returns only the addresses that were checked. */
export function answering(addresses: readonly LookupAddress[]): LookupFunction {
  return (_name, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first!.address, first!.family);
  };
}
