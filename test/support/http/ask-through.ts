// Requests to a proxy with TLS on this machine, as those of clients with addresses and hosts of their own.
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';

export interface AskedThrough extends Pick<RequestOptions, 'method' | 'localAddress'> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Makes the verb, which resolves with the headers of a reply. Each request has a connection of its own. */
export function makeAskThrough(port: number, key: string) {
  return async (path: string, { body, headers, ...options }: AskedThrough = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const req = request(
        {
          host: '127.0.0.1',
          port,
          path,
          agent: false,
          rejectUnauthorized: false,
          headers: { host: 'errand.example.com', authorization: `Bearer ${key}`, ...headers },
          ...options,
        },
        resolve,
      );
      req.once('error', reject);
      if (body !== undefined) req.setHeader('content-type', 'application/json');
      req.end(body === undefined ? undefined : JSON.stringify(body));
    });
}
