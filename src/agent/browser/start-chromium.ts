// Starts Chromium inside the sandbox, with a guarded proxy as its only way out.
import { access } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ConnectOverCDPTransport } from 'playwright-core';
import { MB } from '../../domain/byte-units.ts';
import type { EgressPolicy } from '../../outbound/egress.ts';
import { startGuardedProxy } from '../../outbound/guarded-proxy.ts';
import type { BrowserGrant } from '../port/grants.ts';
import { type ServiceRequest, startInSandbox } from '../sandbox/service.ts';
import type { Mount } from '../sandbox/walls.ts';
import { cdpTransport } from './cdp-transport.ts';
import { makeTemporaryFolder } from '../../disk/temporary-folder.ts';
import { removeTree } from '../../disk/remove-beneath.ts';

const TMP_BYTES = 256 * MB;
const MAX_REFUSALS = 50;
const FONTS = '/etc/fonts';
const SOCKET = 'proxy.sock';

/**
 * Runs inside the sandbox, as Chromium's parent. The sandbox has its own network namespace, which contains only this: a
 * loopback port that leads to the proxy's socket. It relays the DevTools protocol between its own pipes and Chromium's.
 * Chromium loses what it can't write at once, so it must not write to a pipe that another process has made non-blocking.
 */
const RELAY = `const net = require('node:net');
const [program, ...flags] = process.argv.slice(1);
const server = net.createServer((inner) => {
  const outer = net.connect('/workspace/${SOCKET}');
  inner.on('error', () => outer.destroy()).on('close', () => outer.destroy());
  outer.on('error', () => inner.destroy()).on('close', () => inner.destroy());
  inner.pipe(outer).pipe(inner);
});
server.listen(0, '127.0.0.1', () => {
  const proxy = '--proxy-server=http://127.0.0.1:' + server.address().port;
  const stdio = ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'];
  const child = require('node:child_process').spawn(program, [...flags, proxy], { stdio });
  process.stdin.pipe(child.stdio[3]).on('error', () => {});
  child.stdio[4].pipe(process.stdout);
  child.on('error', (error) => { console.error(error.message); process.exit(127); });
  child.on('exit', (code) => process.exit(code ?? 1));
});`;

/** Chromium's own sandbox needs namespaces that are unavailable here; our sandbox replaces it. */
const FLAGS: readonly string[] = [
  ...'--headless=new --no-sandbox --remote-debugging-pipe --user-data-dir=/tmp/profile --disk-cache-size=33554432'.split(
    ' ',
  ),
  ...'--disable-gpu --disable-popup-blocking --disable-quic --disable-sync --disable-extensions --disable-breakpad --disable-notifications'.split(
    ' ',
  ),
  ...'--disable-background-networking --disable-component-update --disable-client-side-phishing-detection'.split(' '),
  ...'--disable-default-apps --disable-domain-reliability --no-first-run --no-default-browser-check --no-pings'.split(
    ' ',
  ),
  ...'--mute-audio --hide-scrollbars --password-store=basic --deny-permission-prompts --metrics-recording-only'.split(
    ' ',
  ),
  '--disable-features=AutofillServerCommunication,DialMediaRouteProvider,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,Translate',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  // No network except through the proxy, and no update checks.
  '--proxy-bypass-list=<-loopback>;update.googleapis.com',
  'about:blank',
];

/** A running Chromium. */
export interface Chromium {
  /** A directory that exists as long as the browser. */
  readonly folder: string;
  readonly transport: ConnectOverCDPTransport;
  /** Resolves when none of its processes is alive, with how it ended. */
  readonly ended: Promise<string>;
  /** The end of its standard error. */
  complaint(): string;
  /** Why a host could not be reached the last time, in a sentence; null if it was never requested or always reached. */
  refusalOf(host: string): string | null;
  /** Why a page isn't there in time, in a sentence, when that is the look-up of a name; null when it is anything else. */
  unresolved(): string | null;
  /** Kills it. Resolves when none of its processes is left. */
  close(): Promise<void>;
}

export interface ChromiumParts {
  readonly grant: BrowserGrant;
  readonly policy: EgressPolicy;
  /** Part of the process's arguments, to identify it in a process list. */
  readonly runId: string;
}

/** Starts one. Throws when the sandbox or the proxy can't be started. */
export async function startChromium({ grant, policy, runId }: ChromiumParts): Promise<Chromium> {
  const folder = await makeTemporaryFolder('browser');
  const open: (() => Promise<unknown>)[] = [() => removeTree(folder)];
  const closeAll = async () => {
    for (const close of open.toReversed()) await close();
  };
  try {
    let refusals: readonly string[] = [];
    // Only the daemon and this sandbox can access the directory.
    const proxy = await startGuardedProxy(policy, {
      socketPath: join(folder, SOCKET),
      onRefused: (message) => {
        refusals = [message, ...refusals].slice(0, MAX_REFUSALS);
      },
    });
    open.push(proxy.close);
    const service = await startInSandbox(grant.sandbox, await serviceOf(grant, folder, runId));
    const end = () => service.stop('canceled');
    open.push(() => {
      end();
      return service.ended;
    });
    return {
      folder,
      transport: cdpTransport({ stdin: service.stdin, stdout: service.stdout, end }),
      ended: service.ended,
      complaint: service.complaint,
      // Chromium also requests hosts of its own.
      refusalOf: (host) => refusals.find((message) => message.includes(host)) ?? null,
      unresolved: () => proxy.givenUp()?.message ?? null,
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function serviceOf({ executable }: BrowserGrant, folder: string, runId: string): Promise<ServiceRequest> {
  const fonts = await access(FONTS).then(
    () => [{ source: FONTS, target: FONTS }],
    () => [],
  );
  const node = placed(process.execPath, '/node');
  const chromium = placed(executable, '/chromium');
  return {
    workspace: folder,
    argv: [node.path, '-e', RELAY, '--', chromium.path, `--errand-run=${runId}`, ...FLAGS],
    env: { HOME: '/tmp', XDG_CONFIG_HOME: '/tmp/.config' },
    network: false,
    mounts: [...node.mounts, ...chromium.mounts, ...fonts],
    tmpBytes: TMP_BYTES,
  };
}

/** Where a program of the host appears inside: /usr is always present, any other directory is mounted. */
export function placed(program: string, target: string): { readonly path: string; readonly mounts: readonly Mount[] } {
  if (program.startsWith('/usr/')) return { path: program, mounts: [] };
  return { path: join(target, basename(program)), mounts: [{ source: dirname(program), target }] };
}
