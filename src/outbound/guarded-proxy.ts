// A proxy on a Unix socket through which a browser reaches only what a policy allows.
import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { messageOf } from '../domain/errors.ts';
import { EgressError, type EgressPolicy } from './egress.ts';
import { connectTo } from './guarded-connect.ts';
import { type LookUps, watchLookUps } from './look-ups.ts';
import { readUrl } from './hop.ts';

export interface GuardedProxyOptions {
  /** Where to listen: a path in a folder that only users of the proxy can enter. */
  readonly socketPath: string;
  /** Called for each refused connection, with one sentence. */
  readonly onRefused?: (message: string) => void;
}

export interface GuardedProxy extends Pick<LookUps, 'givenUp'> {
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Headers between the browser and this proxy only. */
const OF_THE_PROXY: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'upgrade',
];

const STATUS: Readonly<Partial<Record<EgressError['kind'], number>>> = { refused: 403 };

/**
 * Starts a proxy for plain HTTP and for CONNECT. It has no port, which any program of the machine could use: whoever can enter
 * the folder of its socket can use it, with any uid. Traffic is neither limited nor inspected. The browser must be configured
 * to use it for loopback addresses too (`<-loopback>` in Chromium's list of exceptions), and to bypass it for nothing (WebRTC).
 */
export async function startGuardedProxy(
  policy: EgressPolicy,
  { socketPath, onRefused }: GuardedProxyOptions,
): Promise<GuardedProxy> {
  const server = createServer({ requestTimeout: 0 });
  const open = new Set<Duplex>();
  const track = <T extends Duplex>(stream: T): T => {
    open.add(stream);
    return stream.once('close', () => open.delete(stream)).on('error', () => stream.destroy());
  };
  const refuse = (error: unknown): { readonly status: number; readonly message: string } => {
    const status = (error instanceof EgressError ? STATUS[error.kind] : undefined) ?? 502;
    const message = messageOf(error);
    onRefused?.(message);
    return { status, message };
  };
  const lookUps = watchLookUps(policy);
  const dial = async (url: URL) => track(await connectTo(lookUps.policy, url));

  server.on('connection', track);
  server.on('request', (req, res) => {
    relay(req, res, dial).catch((error: unknown) => {
      const { status, message } = refuse(error);
      if (res.headersSent) res.destroy();
      else res.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(message);
    });
  });
  server.on('connect', (req: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnel(req, { client, head }, dial).catch((error: unknown) => {
      const { status, message } = refuse(error);
      client.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o666);
  return {
    givenUp: lookUps.givenUp,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const stream of open) stream.destroy();
      await closed;
    },
  };
}

type Dial = (url: URL) => Promise<Duplex>;

interface Tunnel {
  readonly client: Duplex;
  /** What the client has already sent through it. */
  readonly head: Buffer;
}

async function tunnel(req: IncomingMessage, { client, head }: Tunnel, dial: Dial): Promise<void> {
  // Parsed as a web address, so that every notation means the same as in the browser.
  const server = await dial(readUrl(`https://${req.url ?? ''}/`));
  client.write('HTTP/1.1 200 Connected\r\n\r\n');
  server.write(head);
  pipeline(client, server, client, () => {
    client.destroy();
    server.destroy();
  });
}

async function relay(req: IncomingMessage, res: ServerResponse, dial: Dial): Promise<void> {
  const url = readUrl(req.url ?? '');
  if (url.protocol !== 'http:') throw new EgressError('refused', 'This proxy accepts http addresses and CONNECT only.');
  const server = await dial(url);
  const headers = { ...req.headers, host: url.host, connection: 'close' };
  for (const name of OF_THE_PROXY.slice(1)) delete (headers as Record<string, unknown>)[name];
  const { method = 'GET' } = req;
  res.once('close', () => server.destroy());
  await new Promise<void>((resolve, reject) => {
    const outgoing = forward({
      method,
      path: url.pathname + url.search,
      headers,
      createConnection: () => server,
    });
    const refuse = (cause?: unknown) => {
      outgoing.destroy();
      reject(new EgressError('bad_reply', `The host ${url.host} does not respond with HTTP.`, { cause }));
    };
    outgoing.on('error', refuse);
    // It was not asked to change the protocol. Without a listener, the reply would be lost.
    outgoing.once('upgrade', () => refuse());
    outgoing.once('response', (answer) => {
      const { connection: _, trailer: __, ...forwarded } = answer.headers;
      try {
        res.writeHead(answer.statusCode ?? 502, forwarded);
      } catch (error) {
        // An untrusted server may send what can't be forwarded, such as a status below 100.
        refuse(error);
        return;
      }
      pipeline(answer, res, () => resolve());
    });
    pipeline(req, outgoing, () => undefined);
  });
}
