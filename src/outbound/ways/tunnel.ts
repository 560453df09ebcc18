// A connection through an HTTP proxy: CONNECT, then whatever the target speaks.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, isIP, isIPv6, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { HostPort } from '../address-rules.ts';
import { watchIssuer } from './missing-issuer.ts';
import { trustedContext } from './trusted.ts';
import { WayError } from './way-error.ts';
import { nameOf } from './proxy-rules.ts';
import { type Proxy, waysNow } from './ways.ts';

/** What the target is called in messages, which never contain an address from DNS. */
export interface TunnelTarget extends HostPort {
  readonly shown: string;
}

export interface TunnelLimits {
  /** From the look-up of the proxy to its answer. */
  readonly timeoutMs: number;
  readonly ended?: AbortSignal | undefined;
}

const credentials = () => 'does not accept the credentials that it was called with, if any';
const unreachable = (target: string) => `can't reach ${target}`;
/** What the status of its answer means. Any other is a refusal. Some say so with other statuses than those of the standard. */
const WORDS: Readonly<Record<number, (target: string) => string>> = {
  401: credentials,
  407: credentials,
  500: unreachable,
  502: unreachable,
  503: unreachable,
  504: unreachable,
};

/** What a restart of the proxy, or of its machine, explains. */
const OUTAGES: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT']);

/** Opens it. Throws `WayError`, which names the proxy. */
export function openTunnel(proxy: Proxy, target: TunnelTarget, { timeoutMs, ended }: TunnelLimits): Promise<Socket> {
  const { hostname, port, protocol } = new URL(proxy.url);
  const shown = nameOf(proxy);
  return new Promise((done, fail) => {
    const { socket, explain } = dial(protocol, hostname.replaceAll(/[[\]]/g, ''), Number(port) || undefined);
    const asking = ask(proxy, target, socket);
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      ended?.removeEventListener('abort', abandon);
      outcome();
    };
    const giveUp = (error: WayError) =>
      settle(() => {
        asking.destroy();
        socket.destroy();
        fail(error);
      });
    const failed = (cause: Error) => giveUp(failureOf(shown, explain(cause)));
    const abandon = () => failed(new Error('The request was ended.'));
    const timer = setTimeout(() => {
      const words = `The proxy ${shown} did not open a connection to ${target.shown} within ${timeoutMs / 1_000} s.`;
      giveUp(new WayError(words, { code: 'ETIMEDOUT', isDown: true }));
    }, timeoutMs);
    ended?.addEventListener('abort', abandon, { once: true });
    // They stay: whoever gets the socket adds listeners of its own a moment later.
    socket.on('error', failed);
    asking.on('error', failed);
    asking.once('connect', (answer: IncomingMessage, _: Socket, head: Buffer) => {
      const { statusCode = 0 } = answer;
      if (statusCode < 200 || statusCode > 299) return giveUp(refusal(shown, target.shown, statusCode));
      settle(() => {
        if (head.length > 0) socket.unshift(head);
        done(socket);
      });
    });
    asking.end();
  });
}

/** The proxy is named by the administrator: it can be anywhere, and the system resolves its name. */
function dial(protocol: string, host: string, port: number | undefined) {
  if (protocol === 'http:') {
    const socket = connect({ host, port: port ?? 80, noDelay: true, keepAlive: true, autoSelectFamily: true });
    return { socket, explain: (error: Error) => error };
  }
  const secureContext = trustedContext(waysNow(), null);
  const socket = connectSecurely({ host, port: port ?? 443, secureContext, servername: isIP(host) === 0 ? host : '' });
  return { socket: socket as Socket, explain: watchIssuer(socket, host) };
}

function ask(proxy: Proxy, { host, port }: HostPort, socket: Socket): ClientRequest {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return request({
    method: 'CONNECT',
    path: authority,
    setHost: false,
    headers: {
      host: authority,
      ...(proxy.authorization !== null && { 'proxy-authorization': proxy.authorization }),
    },
    createConnection: () => socket,
  });
}

function refusal(proxy: string, target: string, status: number): WayError {
  const words = WORDS[status]?.(target) ?? `refuses a connection to ${target}`;
  const isDown = WORDS[status] === unreachable;
  return new WayError(`The proxy ${proxy} ${words} (${status}).`, { code: 'ERR_PROXY', isDown });
}

function failureOf(proxy: string, cause: Error): WayError {
  if (cause instanceof WayError) {
    const { message, code, isDown } = cause;
    return new WayError(`The proxy can't be used. ${message}`, { code, isDown, cause });
  }
  const { code = '' } = cause as { readonly code?: string };
  const words = code === '' ? '' : ` (${code})`;
  return new WayError(`The proxy ${proxy} can't be reached${words}.`, {
    code: code || 'ERR_PROXY',
    isDown: OUTAGES.has(code),
    cause,
  });
}
