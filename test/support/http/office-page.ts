// A scripted daemon with the page of Office Mode before it: the shell, the built files, and logins by code or key.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { OfficeServer } from './office-server.ts';

const BUILT = fileURLToPath(new URL('../../../dist/browser/', import.meta.url));

export interface OfficePage {
  /** Where the office is, with a path before it. */
  readonly root: string;
  /** Codes that are good, once each. */
  readonly codes: Set<string>;
  /** Keys that are good. */
  readonly keys: Set<string>;
  /** Cookies that are good. */
  readonly cookies: Set<string>;
  /** Refuses log-ins and log-outs with this status; null: it does not. */
  refusesWith: number | null;
  /** Whether browsers keep the cookie. */
  isKept: boolean;
  /** Keeps what streams send to itself, as a proxy that buffers does. */
  holds: boolean;
  /** Ends all streams now, as a proxy does. */
  readonly cut: () => void;
  /** Streams that are open through it. */
  readonly streams: () => number;
  /** What the page asked for. */
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    readonly lastEventId: string | undefined;
  }[];
  readonly close: () => Promise<void>;
}

const NO_BUDGETS = JSON.stringify({ code: 0, message: 'ok', data: { items: [], total: 0, limit: 500, offset: 0 } });

const shell = (
  root: string,
  nonce: string,
) => `<!doctype html><html lang="en" data-root="${root}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Errand office</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="${root}/assets/office.css" nonce="${nonce}"></head>
<body><div id="office"></div><noscript>Without JavaScript…</noscript><script type="module" src="${root}/assets/office.js" nonce="${nonce}"></script></body></html>`;

const policy = (nonce: string) =>
  `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;

/** Starts it before a daemon. The caller has to close it. */
export async function startOfficePage(daemon: Pick<OfficeServer, 'url'>, prefix = '/errand'): Promise<OfficePage> {
  const root = `${prefix}/office`;
  const [codes, keys, cookies] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const requests: { method: string; path: string; lastEventId: string | undefined }[] = [];
  const streams = new Set<ServerResponse>();

  const isKnown = ({ headers }: IncomingMessage) => {
    const key = headers.authorization?.replace(/^Bearer /, '');
    if (key !== undefined) return keys.has(key);
    return cookies.has(/errand_office=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? '');
  };

  async function logIn(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    const { code } = JSON.parse(body) as { code: string };
    if (!codes.delete(code)) return void res.writeHead(401).end('{}');
    cookies.add(`c${code}`);
    if (!page.isKept) return void res.writeHead(204).end();
    res.writeHead(204, { 'set-cookie': `errand_office=c${code}; HttpOnly; SameSite=Strict; Path=${root}` }).end();
  }

  function forward(req: IncomingMessage, res: ServerResponse, path: string): void {
    const place = path.startsWith('/queue') ? '/api/v1' : '/api/v1/office-mode';
    const onward = request(
      `${daemon.url()}${place}${path}`,
      { headers: { ...req.headers, host: 'daemon' } },
      (reply) => {
        if (page.holds && reply.headers['content-type'] === 'text/event-stream') {
          reply.resume();
          return;
        }
        res.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(res);
        reply.on('error', () => res.destroy());
        if (reply.headers['content-type'] === 'text/event-stream') streams.add(res);
        res.on('close', () => {
          streams.delete(res);
          reply.destroy();
        });
      },
    );
    onward.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
    onward.end();
  }

  const server = createServer((req, res) => {
    const path = req.url ?? '';
    requests.push({ method: req.method ?? '', path, lastEventId: req.headers['last-event-id'] as string | undefined });
    res.on('error', () => undefined);
    const asset = new RegExp(`^${root}/assets/(office\\.(js|css))$`).exec(path);
    if (asset !== null) {
      const type = asset[2] === 'js' ? 'text/javascript' : 'text/css';
      return void res.writeHead(200, { 'content-type': type }).end(readFileSync(`${BUILT}${asset[1]}`));
    }
    if (page.refusesWith !== null && /\/log(in|out)$/.test(path)) {
      const message = 'The daemon says why.';
      return void res.writeHead(page.refusesWith).end(JSON.stringify({ code: page.refusesWith, message, data: null }));
    }
    if (path === `${root}/login`) return void logIn(req, res);
    if (path === `${root}/logout`) {
      cookies.clear();
      return void res.writeHead(204).end();
    }
    if (path.startsWith(`${root}/api/`)) {
      if (!isKnown(req))
        return void res.writeHead(401, { 'content-type': 'application/json' }).end('{"code":401,"message":"No."}');
      if (path.startsWith(`${root}/api/budgets`))
        return void res.writeHead(200, { 'content-type': 'application/json' }).end(NO_BUDGETS);
      return forward(req, res, path.slice(`${root}/api`.length));
    }
    if (!path.startsWith(root)) return void res.writeHead(404).end();
    res
      .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy('abc') })
      .end(shell(root, 'abc'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const page: OfficePage = {
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}${root}`,
    codes,
    keys,
    cookies,
    requests,
    refusesWith: null,
    isKept: true,
    holds: false,
    streams: () => streams.size,
    cut: () => streams.forEach((stream) => stream.destroy()),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return page;
}
