// The daemon's listeners: the operator's socket (K1), and the address for everyone.
import { join } from 'node:path';
import { parseListen } from '../config/listen-address.ts';
import type { LiveConfig } from '../config/live-config.ts';
import { systemClock } from '../domain/clock.ts';
import type { HttpApp } from '../http/app.ts';
import { makeIsTrustedProxy } from '../http/server/client-address.ts';
import { limitConnections } from '../http/server/connection-limits.ts';
import { maxDescriptors } from '../http/server/descriptors.ts';
import { linkSocket, listen } from '../http/server/listen.ts';
import { setPeers } from '../http/server/peers.ts';
import { makeHttpServer } from '../http/server/server.ts';
import type { Log } from '../log/log.ts';
import type { Start } from './foundations.ts';

/** Opens them. Throws `conflict` when one can't be bound. */
export async function openListeners(
  { configuration, closers }: Start,
  app: HttpApp,
  { settings, log }: Pick<LiveConfig, 'settings'> & { log: Log },
) {
  const { places, settings: initial } = configuration.config;
  const forOperator = makeHttpServer(app);
  setPeers(forOperator, 'operator');
  const socket = await listen(forOperator, { kind: 'unix', path: places.socketPath });
  closers.push(socket.close, linkSocket(join(places.dataDir, 'errand.sock'), places.socketPath));
  // The operator's socket has no limit: its users are trusted, and must get in even when no one else does.
  const server = makeHttpServer(app);
  const isTrustedProxy = makeIsTrustedProxy(() => settings().trustedProxies);
  limitConnections(server, { settings, isTrustedProxy, maxDescriptors: maxDescriptors(), clock: systemClock, log });
  const everyone = await listen(server, parseListen(initial.listen)!);
  closers.push(everyone.close);
  const { address } = everyone;
  return { everyone, url: address.startsWith('unix:') ? address : `http://${address}` };
}
