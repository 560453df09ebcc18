// The outside world of a command under test: its streams, its signals, and a daemon behind a Unix socket.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { DaemonVerbs, Io, StopSignal } from '../../src/cli/frame/io.ts';
import { runProgram } from '../../src/cli/program.ts';

/** A directory of the test's own, with a path short enough for a socket. */
export function makeDirectory(): string {
  const directory = mkdtempSync('/tmp/errand-cli-');
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A request as the daemon got it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** What a route does: returns a value (as data of the envelope), or writes the response itself. */
export type Route = (received: Received, response: ServerResponse) => unknown;

/** A refusal in the management interface's shape. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1' });
  response.end(JSON.stringify({ code: status, message, data: null }));
}

export interface FakeDaemon {
  readonly dataDir: string;
  readonly received: Received[];
}

/** Speaks the daemon's management interface on `<data dir>/errand.sock`. Routes are named like `GET /api/v1/users`. */
export async function startFakeDaemon(routes: Readonly<Record<string, Route>>): Promise<FakeDaemon> {
  const dataDir = makeDirectory();
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = request;
      const one: Received = { method, path: url, headers, body: text === '' ? undefined : JSON.parse(text) };
      received.push(one);
      const route = routes[`${method} ${url}`];
      if (route === undefined) return refuse(response, 404, `There is no ${url}.`);
      const data = route(one, response);
      if (data === undefined) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ code: 0, message: 'ok', data }));
    });
  });
  server.listen(path.join(dataDir, 'errand.sock'));
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { dataDir, received };
}

/** The environment that a test sets. */
export interface Setting {
  readonly dataDir?: string;
  readonly stdin?: string | PassThrough;
  /** Whether the three streams are terminals; none is unless said. */
  readonly terminal?: Partial<Io['terminal']>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly daemon?: DaemonVerbs;
  readonly stdout?: Writable;
  readonly executable?: string;
  /** Width of the terminal; 80 unless given. */
  readonly columns?: number;
}

/** The time in every test. */
export const NOW = Date.parse('2026-03-01T12:00:00Z');

export interface Running {
  /** The exit code, when it has ended. */
  readonly code: Promise<number>;
  stdout(): string;
  stderr(): string;
  signal(name: StopSignal): void;
  /** SIGHUP. */
  hangUp(): void;
  /** Resolves once the text is on stdout or stderr. */
  until(text: string): Promise<void>;
}

/** Starts a command line without waiting for its end. */
export function start(args: readonly string[], setting: Setting = {}): Running {
  const listeners = new Set<(signal: StopSignal) => void>();
  const hangups = new Set<() => void>();
  const waiting = new Set<() => void>();
  const collect = () => {
    let text = '';
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        for (const look of waiting) look();
        done();
      },
    });
    return { stream, text: () => text };
  };
  const [stdout, stderr] = [collect(), collect()];
  const io: Io = {
    stdin: stdinOf(setting.stdin),
    stdout: setting.stdout ?? stdout.stream,
    stderr: stderr.stream,
    terminal: { stdin: false, stdout: false, stderr: false, ...setting.terminal },
    columns: setting.columns ?? 80,
    now: () => NOW,
    environment: { ...(setting.dataDir && { ERRAND_DATA_DIR: setting.dataDir }), ...setting.environment },
    commandName: 'errand',
    executable: setting.executable ?? '/usr/local/bin/errand',
    onSignal(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onHangup(listener) {
      hangups.add(listener);
      return () => void hangups.delete(listener);
    },
    loadDaemon: () => Promise.resolve(setting.daemon ?? noDaemon),
  };
  return {
    code: runProgram(args, io),
    stdout: stdout.text,
    stderr: stderr.text,
    signal: (name) => listeners.forEach((listener) => listener(name)),
    hangUp: () => hangups.forEach((listener) => listener()),
    until: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (`${stdout.text()}\n${stderr.text()}`.includes(text)) resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

const noDaemon: DaemonVerbs = {
  initialize: () => Promise.reject(new Error('This test has no daemon.')),
  renewMasterKey: () => Promise.reject(new Error('This test has no daemon.')),
  startDaemon: () => Promise.reject(new Error('This test has no daemon.')),
};

function stdinOf(given: string | PassThrough | undefined): PassThrough {
  if (given instanceof PassThrough) return given;
  const stream = new PassThrough();
  stream.end(given ?? '');
  return stream;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line to its end. */
export async function run(args: readonly string[], setting: Setting = {}): Promise<Ended> {
  const running = start(args, setting);
  const code = await running.code;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}
