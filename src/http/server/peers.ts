// Who connects to a server: the operator, programs of this machine, or the network.
import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';

/** `operator`: the operator's socket (K1). `unix`: a Unix socket for everyone, usually a proxy. */
export type Peers = 'operator' | 'unix' | 'network';

const peersOfServers = new WeakMap<Server, Peers>();

/** Sets who connects to a server, before it listens. A server of which nothing was said is reached by the network. */
export function setPeers(server: Server, peers: Peers): void {
  peersOfServers.set(server, peers);
}

/** Who connects to a server. */
export function peersOf(server: Server): Peers {
  return peersOfServers.get(server) ?? 'network';
}

/**
 * Returns whether a request came over the operator's socket (K1). Asks the listening server, never the connection: a TCP
 * connection that has just been reset has no address either, and would pass for a local one.
 */
export function isFromOperator(req: IncomingMessage): boolean {
  return peersOfRequest(req) === 'operator';
}

/** Who is at the other end of a request's connection. */
export function peersOfRequest({ socket }: IncomingMessage): Peers {
  const { server } = socket as Socket & { readonly server?: Server };
  return server === undefined ? 'network' : peersOf(server);
}
