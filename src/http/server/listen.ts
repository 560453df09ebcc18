// Opens the listeners: a TCP address, a Unix socket, or a descriptor that the service manager has opened.
import { chmodSync, existsSync, lstatSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { connect, type ListenOptions, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { ErrandError } from '../../domain/errors.ts';
import { peersOf, setPeers } from './peers.ts';

/** Where to listen. `mode` of a socket's file: 0660 unless given. A descriptor is that of a socket that listens already. */
export type ListenTarget =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string; readonly mode?: number }
  | { readonly kind: 'fd'; readonly fd: number };

export interface Listener {
  /** As bound: `HOST:PORT` or `unix:/path`. */
  readonly address: string;
  /** Accepts nothing more, while replies in progress continue. */
  stopAccepting(): void;
  /** Stops listening, gives replies in progress a moment to finish, then closes what is left. */
  close(): Promise<void>;
}

const LAST_WORDS_MS = 300;

/**
 * Listens on the target; port 0 takes any free one. A Unix socket that no process listens on is replaced, and nothing else is.
 * Throws `conflict` when the target can't be bound.
 */
export async function listen(server: Server | SecureServer, target: ListenTarget): Promise<Listener> {
  const sockets = trackSockets(server);
  if (target.kind === 'unix') await bindSocket(server, target);
  else if (target.kind === 'fd') await bind(server, `descriptor ${target.fd}`, target);
  else await bind(server, withPort(target.host, target.port), target);
  // That of a Unix socket is its path; Node doesn't know it of one that was inherited.
  const bound = server.address() ?? pathOfDescriptor((target as ListenTarget & { kind: 'fd' }).fd);
  if (typeof bound === 'string' && peersOf(server) === 'network') setPeers(server, 'unix');
  const address = typeof bound === 'string' ? `unix:${bound}` : withPort(bound.address, bound.port);
  let closed: Promise<void> | undefined;
  const stopAccepting = (): Promise<void> =>
    (closed ??= new Promise((resolve) => {
      server.close(() => resolve());
    }));
  return { address, stopAccepting: () => void stopAccepting(), close: () => close(server, sockets, stopAccepting()) };
}

/** Where a Unix socket is bound, as the kernel knows it. */
function pathOfDescriptor(fd: number): string {
  const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`)) ?? [];
  const rows = readFileSync('/proc/net/unix', 'utf8').split('\n');
  // Its columns: number, references, protocol, flags, type, state, inode, path.
  const row = rows.map((line) => line.split(' ').filter(Boolean)).find((columns) => columns[6] === inode);
  return row?.slice(7).join(' ') || `descriptor ${fd}`;
}

const withPort = (host: string, port: number) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

async function bindSocket(
  server: Server | SecureServer,
  { path, mode = 0o660 }: ListenTarget & { kind: 'unix' },
): Promise<void> {
  if (!existsSync(dirname(path)))
    throw new ErrandError('conflict', `Cannot listen on ${path}: its directory does not exist.`);
  if (await answers(path)) throw new ErrandError('conflict', `Another process listens on ${path}.`);
  removeStale(path);
  // From its first moment, nobody else can open it.
  const previous = process.umask(0o777 & ~mode);
  try {
    await bind(server, path, { path });
  } finally {
    process.umask(previous);
  }
  chmodSync(path, mode);
}

/** Removes what a crash has left. A file with content may be there by a mistake in the settings, and stays. */
function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket() && !found.isSymbolicLink())
    throw new ErrandError('conflict', `Cannot listen on ${path}: a file that isn't a socket is there.`);
  rmSync(path);
}

/**
 * Links the path where a command looks for the socket to its real path: under a service manager that is in the runtime
 * directory, which an operator's shell does not know. Returns a function that removes the link.
 */
export function linkSocket(place: string, socketPath: string): () => void {
  if (place === socketPath) return () => undefined;
  rmSync(place, { force: true });
  symlinkSync(socketPath, place);
  return () => rmSync(place, { force: true });
}

async function bind(
  server: Server | SecureServer,
  name: string,
  where: ListenOptions & { readonly fd?: number },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new ErrandError('conflict', `Cannot listen on ${name} (${error.code}).`, { cause: error })),
    );
    server.once('listening', resolve);
    server.listen(where);
  });
  server.removeAllListeners('error');
}

async function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** All open connections: Node knows nothing of those that are still in their TLS handshake. */
function trackSockets(server: Server | SecureServer): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

async function close(
  server: Server | SecureServer,
  sockets: ReadonlySet<Socket>,
  closed: Promise<void>,
): Promise<void> {
  server.closeIdleConnections();
  const last = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, LAST_WORDS_MS);
  await closed;
  clearTimeout(last);
}
