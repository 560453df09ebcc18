// The daemon's listeners: the operator's socket (K1), and the addresses for everyone.
import { join } from 'node:path';
import { parseListen } from '../../config/listen-address.ts';
import type { Config } from '../../config/config.ts';
import type { LiveCertificate } from '../../config/live/live-certificate.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import type { HttpApp } from '../../http/app.ts';
import { makeIsTrustedProxy } from '../../http/server/client-address.ts';
import { makeConnectionLimits } from '../../http/server/connection-limits.ts';
import { maxDescriptors } from '../../http/server/descriptors.ts';
import { linkSocket, listen, type Listener, type ListenTarget } from '../../http/server/listen.ts';
import { setPeers } from '../../http/server/peers.ts';
import { presentCertificate } from '../../http/server/secure-server.ts';
import { makeHttpServer, makeHttpsServer } from '../../http/server/server.ts';
import type { Log } from '../../log/log.ts';
import type { Start } from '../foundations.ts';
import { daemonClock } from '../daemon-clock.ts';

export interface ListenerParts {
  readonly live: Pick<LiveConfig, 'settings' | 'bound'>;
  /** Null without TLS. */
  readonly certificate: LiveCertificate | null;
  readonly log: Log;
}

export interface Listeners {
  /** That of the first for everyone, as bound. */
  readonly address: string;
  readonly url: string;
  /** Leaves new connections to the next daemon, in the queues of the sockets that systemd holds open; without one, does nothing. */
  handOver(): void;
}

/** Opens them. Throws `conflict` when one can't be bound. */
export async function openListeners(
  { configuration, closers }: Start,
  app: HttpApp,
  { live, certificate, log }: ListenerParts,
): Promise<Listeners> {
  const { locations, settings: initial, service } = configuration.config;
  const forOperator = makeHttpServer(app);
  setPeers(forOperator, 'operator');
  const socket = await listen(forOperator, { kind: 'unix', path: locations.socketPath });
  closers.push(socket.close, linkSocket(join(locations.dataDir, 'errand.sock'), locations.socketPath));
  // The operator's socket has no limit: its users are trusted, and must get in even when no one else does.
  const { settings } = live;
  const isTrustedProxy = makeIsTrustedProxy(() => settings().trustedProxies);
  const limit = makeConnectionLimits({
    settings,
    isTrustedProxy,
    maxDescriptors: maxDescriptors(),
    clock: daemonClock,
    log,
  });

  async function open(target: ListenTarget): Promise<Listener> {
    const server = certificate === null ? makeHttpServer(app) : secureServer(app, certificate);
    limit(server);
    const listener = await listen(server, target);
    closers.push(listener.close);
    return listener;
  }

  const advice = adviceOnLinks(configuration.config);
  if (advice !== null) log.warn(advice);
  const everyone = await open(
    service.sockets[0] === undefined ? parseListen(initial.listen)! : { kind: 'fd', fd: service.sockets[0].fd },
  );
  const others = await Promise.all(service.sockets.slice(1).map(({ fd }) => open({ kind: 'fd', fd })));
  const inherited = service.sockets.length === 0 ? [] : [everyone, ...others];
  if (inherited.length > 0 && everyone.address !== initial.listen) {
    const used = inherited.map(({ address }) => address);
    log.warn({ used, setting: initial.listen }, 'the sockets of systemd are used, not the setting listen');
  }
  const { address } = everyone;
  live.bound(address);
  const scheme = certificate === null ? 'http' : 'https';
  return {
    address,
    url: address.startsWith('unix:') ? address : `${scheme}://${address}`,
    handOver: () => inherited.forEach((listener) => listener.stopAccepting()),
  };
}

/** What to do about links that could lead clients of a proxy nowhere; null when `public_url` is set, or there is no proxy. */
export function adviceOnLinks({ settings, origins }: Pick<Config, 'settings' | 'origins'>): string | null {
  const isBehindProxy = settings.trustedProxies.length > 0 || settings.listen.startsWith('unix:');
  if (!isBehindProxy || origins.get('public_url') !== 'default') return null;
  const unless = settings.trustedProxies.length > 0 ? ' unless it sends X-Forwarded-Proto and their Host' : '';
  return `links lead to ${settings.publicUrl}, where clients of a proxy find nothing${unless}: set public_url to the address that they use`;
}

function secureServer(app: HttpApp, certificate: LiveCertificate) {
  const server = makeHttpsServer(app, certificate.current());
  certificate.onChange((next) => presentCertificate(server, next));
  return server;
}
