// The daemon's two listeners: a TCP address for everyone, a Unix socket for the local operator (K1).
import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { ErrandError } from '../../domain/errors.ts';

export interface Listener {
  /** `HOST:PORT` as bound, or the socket's path. */
  readonly address: string;
  /** Stops listening, gives replies in progress a moment to finish, then closes what is left. */
  close(): Promise<void>;
}

const LAST_WORDS_MS = 300;

/** Listens on `HOST:PORT`; port 0 takes any free one. Throws `conflict` when the address can't be bound. */
export async function listenTcp(server: Server, listen: string): Promise<Listener> {
  const colon = listen.lastIndexOf(':');
  const host = listen.slice(0, colon).replace(/^\[|\]$/g, '');
  await bind(server, listen, () => server.listen({ host, port: Number(listen.slice(colon + 1)) }));
  const { address, port, family } = server.address() as AddressInfo;
  return { address: family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`, close: () => close(server) };
}

/** Listens on a Unix socket that only its owner and group can open. Replaces a socket that no process listens on. */
export async function listenSocket(server: Server, path: string): Promise<Listener> {
  if (await answers(path)) throw new ErrandError('conflict', `Another process listens on ${path}.`);
  rmSync(path, { force: true });
  const previous = process.umask(0o117);
  try {
    await bind(server, path, () => server.listen(path));
  } finally {
    process.umask(previous);
  }
  chmodSync(path, 0o660);
  return { address: path, close: () => close(server) };
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

async function bind(server: Server, address: string, listen: () => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new ErrandError('conflict', `Cannot listen on ${address} (${error.code}).`, { cause: error })),
    );
    server.once('listening', resolve);
    listen();
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

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const last = setTimeout(() => server.closeAllConnections(), LAST_WORDS_MS);
  await closed;
  clearTimeout(last);
}
