// A run with a real browser, and a site on loopback that it may reach.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { findChromium } from '../../../src/agent/browser/find-chromium.ts';
import { browserTools } from '../../../src/agent/packs/browser.ts';
import { performCall } from '../../../src/agent/loop/perform-call.ts';
import { type BrowserGrant, NO_EQUIPMENT, type SandboxGrant } from '../../../src/agent/port/grants.ts';
import type { Brief, Message } from '../../../src/agent/port/protocol.ts';
import type { Services } from '../../../src/agent/port/services.ts';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { openChannel } from '../../../src/agent/port/signals.ts';
import { makeBrief, makeRun, sitAtMain } from '../../agent/play-main.ts';
import { aloneOn } from '../../agent/run-port.ts';
import type { Of } from '../files/temporary-directory.ts';

const MIB = 1024 * 1024;
const LIMITS = { timeoutMs: 30_000, maxOutputBytes: MIB, memoryBytes: 1_024 * MIB, maxProcesses: 512 };
const walls = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
export const sandbox: SandboxGrant | null = walls.ok ? walls.grant : null;
export const chromium = await findChromium(sandbox, '');
if (!chromium.ok) console.warn(`\n*** SKIPPED: every test of the browser: ${chromium.why} ***\n`);

export type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** A server on loopback until the test ends; `asked` has its requests. */
export async function aSite(of: Of, pages: Readonly<Record<string, string | Handler>>) {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    const page = pages[new URL(req.url ?? '/', 'http://x').pathname];
    if (typeof page === 'function') page(req, res);
    else
      res.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' }).end(page ?? 'No.');
  });
  await listen(of, server);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, asked, server };
}

async function listen(of: Of, server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  of.onTestFinished(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  });
}

type Picture = Services['keep_screenshot']['input'];

interface RunParts {
  /** Grants in addition to the usual; null for no browser. */
  readonly grant?: Partial<BrowserGrant> | null;
  /** Time limit of an action. */
  readonly limitMs?: number;
}

/** A run that may use the browser, and reach these ports of loopback. */
export async function browserRun(of: Of, ports: readonly number[], { grant = {}, limitMs }: RunParts = {}) {
  const browser: BrowserGrant | null =
    grant === null
      ? null
      : {
          executable: chromium.ok ? chromium.executable : '',
          timeoutMs: 10_000,
          sandbox: sandbox!,
          ...grant,
        };
  const brief: Brief = await makeBrief({
    runId: randomUUID(),
    equipment: { ...NO_EQUIPMENT, browser },
    egress: ports.map((port) => ({ cidr: '127.0.0.0/8', host: null, ports: [port], for: ['web_fetch'] })),
  });
  const { port1, port2 } = new MessageChannel();
  const pictures: Picture[] = [];
  port1.on('message', (message: Message) => {
    for (const signal of message.flatMap(({ signals }) => signals)) {
      if (signal.t !== 'request') continue;
      pictures.push(signal.input as Picture);
      port1.postMessage({ t: 'reply', request: signal.request, reply: { ok: true, output: { sha256: '' } } });
    }
  });
  const main = sitAtMain(port1);
  const channel = openChannel(aloneOn(port2));
  const run = makeRun(brief, channel);
  const opened = browserTools(run, limitMs);
  of.onTestFinished(async () => {
    await opened.close();
    port1.close();
  });
  let last = 0;
  return {
    opened,
    brief,
    pictures,
    call: (name: string, input: Record<string, unknown> = {}) => {
      last += 1;
      const call = { id: `call-${last}`, name, input: input as never };
      return performCall(run, { tools: opened.tools, call, fault: undefined });
    },
    stop: () => main.control({ t: 'abort', reason: 'stop' }),
    processes: () => processesOf(brief.runId),
  };
}

/** The reference that a page gave an element, by a piece of its line. */
export function refOf(view: string, line: RegExp): string {
  const found = view.split('\n').find((one) => line.test(one));
  return /\[ref=(\w+)\]/.exec(found ?? '')?.[1] ?? `(none in ${view})`;
}

/** Ids of the processes of a run's browser, as far as their arguments show. */
export function processesOf(runId: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`--errand-run=${runId}`);
      } catch {
        return false;
      }
    });
}
