// Limits the connections of a server, in total and per address.
import type { Server, Socket } from 'node:net';
import type { Clock } from '../../domain/clock.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import { networkOf } from '../../outbound/address-range.ts';
import { type IsTrustedProxy, UNIX_PEER } from './client-address.ts';
import { peersOf } from './peers.ts';

export interface ConnectionLimitParts {
  settings(): Pick<Settings, 'limits'>;
  /** All clients of a trusted proxy share its address, so only the total limit applies to it. */
  readonly isTrustedProxy: IsTrustedProxy;
  /** Files that the process may have open. */
  readonly maxDescriptors: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often refused connections are logged at most. */
const REPORT_EVERY_MS = 10_000;
/** Reserved for everything other than clients' connections: the operator's socket, the store, models, commands. */
const RESERVED_DESCRIPTORS = 256;
/** A connection may need a second one: a file that is being sent or received. */
const DESCRIPTORS_EACH = 2;

type Limit = 'limits.connections' | 'limits.connections_per_address';

/** Connections that a server may have: the setting, or fewer when the descriptors of the process do not allow as many. */
export function connectionsFor({ limits }: Pick<Settings, 'limits'>, maxDescriptors: number): number {
  const reserved = Math.min(RESERVED_DESCRIPTORS, maxDescriptors / 4);
  return Math.min(limits.connections, Math.max(1, Math.floor((maxDescriptors - reserved) / DESCRIPTORS_EACH)));
}

/**
 * Keeps a server's connections within the limits in effect. A connection over the limit is closed before anything is
 * read from it: while it was answered, it would occupy what others need. One address never has more than half of all.
 */
export function makeConnectionLimits(parts: ConnectionLimitParts): (server: Server) => void {
  const { settings, isTrustedProxy, maxDescriptors } = parts;
  const report = makeReport(parts);
  const byNetwork = new Map<string, number>();
  let open = 0;

  function exceeded(address: string, network: string): Limit | null {
    const all = connectionsFor(settings(), maxDescriptors);
    if (open >= all) return 'limits.connections';
    const each = Math.min(settings().limits.connectionsPerAddress, Math.ceil(all / 2));
    // Who connects to a Unix socket can't be told apart.
    if ((byNetwork.get(network) ?? 0) < each || address === UNIX_PEER || isTrustedProxy(address)) return null;
    return 'limits.connections_per_address';
  }

  function count(socket: Socket, network: string): void {
    open += 1;
    byNetwork.set(network, (byNetwork.get(network) ?? 0) + 1);
    socket.once('close', () => {
      open -= 1;
      const left = byNetwork.get(network)! - 1;
      if (left === 0) byNetwork.delete(network);
      else byNetwork.set(network, left);
    });
  }

  function admit(socket: Socket, server: Server): void {
    // Without an address, it was reset before this listener ran.
    const address = peersOf(server) === 'unix' ? UNIX_PEER : (socket.remoteAddress ?? '');
    const network = networkOf(address);
    const limit = exceeded(address, network);
    if (limit === null) {
      count(socket, network);
    } else {
      socket.destroy();
      report(limit, network);
    }
  }

  // Runs before the listener of the HTTP server, which would begin to read, and before a TLS handshake.
  return (server) => void server.prependListener('connection', (socket: Socket) => admit(socket, server));
}

/** Logs the first refusal at once, and the number of those that follow ten seconds later. */
function makeReport({ clock, log }: ConnectionLimitParts): (limit: Limit, network: string) => void {
  let refused = 0;
  let resting = false;

  function report(limit: Limit, network: string): void {
    log.warn({ refused, limit, newest_from: network }, 'connections refused: too many are open');
    refused = 0;
    resting = true;
    clock.after(REPORT_EVERY_MS, () => {
      resting = false;
      if (refused > 0) report(limit, network);
    });
  }

  return (limit, network) => {
    refused += 1;
    if (!resting) report(limit, network);
  };
}
