// Files at signed addresses, fetched from the daemon that this client speaks to.
import type { IncomingMessage } from 'node:http';
import { ClientError } from './client-error.ts';
import { isRefusal, refusalOf } from './exchange.ts';
import { type Address, send } from './transport.ts';

const FILES = '/files/';

/**
 * Opens a file; its bytes are still to be read. The address contains the daemon's public name, so only its path is
 * used; it needs no credential. Throws `refused`, `malformed` for any other address, and as `send` does.
 */
export async function openFile(address: Address, url: string, signal?: AbortSignal): Promise<IncomingMessage> {
  const at = url.lastIndexOf(FILES);
  if (at === -1) throw new ClientError({ kind: 'malformed' }, 'What the daemon returned is not the address of a file.');
  const open: Address = 'url' in address ? { ...address, token: null } : address;
  const reply = await send(open, { method: 'GET', path: url.slice(at), ...(signal && { signal }) });
  if (reply.statusCode !== 307) return requireFile(reply);
  // Where the daemon has its files. That address needs no credential either.
  const { origin, pathname, search } = new URL(reply.headers.location ?? '', 'http://localhost');
  reply.resume();
  const there = { method: 'GET', path: `${pathname}${search}`, ...(signal && { signal }) } as const;
  return requireFile(await send({ url: origin, token: null }, there));
}

async function requireFile(reply: IncomingMessage): Promise<IncomingMessage> {
  if (isRefusal(reply)) throw await refusalOf(reply);
  return reply;
}
