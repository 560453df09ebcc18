// The HTTP room on real servers, over operations that live in memory and runs that a test plays by hand.
import { request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { aKnownNode, nodeId } from '../store/nodes.ts';
import { makeSlices } from '../../../src/domain/loop/slices.ts';
import { inOnePortion } from '../store/read-whole.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { ErrandError, notFound } from '../../../src/domain/errors.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { JournalEvent, NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import { isTerminal, type Run } from '../../../src/domain/sessions/run.ts';
import type { Settings } from '../../../src/domain/settings.ts';
import { NO_USAGE } from '../../../src/domain/sessions/usage.ts';
import type { ApiKey, Identity, KeyScope, Role, User } from '../../../src/domain/people/user.ts';
import { makeBus } from '../../../src/events/bus.ts';
import { makeTails } from '../../../src/events/tail.ts';
import { type HttpParts, makeHttpApp } from '../../../src/http/app.ts';
import type { Operations } from '../../../src/operations/operations.ts';
import type { Readiness, StatusReport } from '../../../src/operations/status.ts';
import { makeOpenSpool } from '../../../src/files/blobs/spool.ts';
import { setPeers } from '../../../src/http/server/peers.ts';
import { makeHttpServer } from '../../../src/http/server/server.ts';
import { makeLog } from '../../../src/log/log.ts';
import type { TurnInput } from '../../../src/operations/turns/turn.ts';
import { holdEvents, holdReply } from './route-table.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';

export const AT = Date.parse('2026-03-01T12:00:00.000Z');

export const SETTINGS: Settings = {
  listen: '127.0.0.1:0',
  database: '',
  databaseFile: '',
  databaseConnections: 12,
  node: { name: '', labels: [] },
  publicUrl: 'http://127.0.0.1:8484',
  tls: { certFile: '', keyFile: '', caFile: '' },
  shareOrigin: '',
  aliases: true,
  office: { web: true },
  trustedProxies: [],
  waitTimeoutSeconds: 600,
  maxUploadSizeMb: 1,
  limits: {
    maxTextMb: 1,
    bodiesInFlightMb: 16,
    repliesInFlightMb: 64,
    maxNodes: 100_000,
    connections: 100,
    connectionsPerAddress: 100,
  },
  loginTokenTtlSeconds: 86_400,
  sso: {
    provider: '',
    userinfoUrl: '',
    tokenParameter: 'token',
    timeoutMs: 1_000,
    defaults: { team: '', functionalRole: '', scenario: '' },
  },
  background: {
    queueWaitSeconds: 3600,
    maxUnfinishedPerKey: 20,
    maxExecutingPerKey: 2,
    maxUnfinishedPerUser: 50,
    pollsPerSecond: 10,
    modelPatienceSeconds: 1800,
  },
  model: {
    connectTimeoutSeconds: 10,
    firstTokenTimeoutSeconds: 120,
    idleTimeoutSeconds: 60,
    runTimeoutSeconds: 3600,
    maxSteps: 200,
    maxReplyMb: 4,
    patienceSeconds: 120,
  },
  userInput: { expiresSeconds: 86_400 },
  webhooks: { retentionDays: 30 },
  publish: { maxFiles: 5_000, maxTotalMb: 500, timeZone: 'Asia/Shanghai' },
  workers: { threads: 1, runsPerThread: 1, memoryMb: 256, hangTimeoutSeconds: 30 },
  streams: { pingSeconds: 10, heartbeatSeconds: 15, drainSeconds: 5 },
  shell: { enabled: false, timeoutSeconds: 60, maxOutputKb: 64, memoryMb: 256, maxProcesses: 64 },
  retention: {
    eventsDays: 0,
    runsDays: 0,
    auditDays: 0,
    workspacesIdleDays: 0,
    exportsDays: 0,
    firingsDays: 0,
    scheduledSessionsDays: 0,
    throwAwaySessionsDays: 0,
    versionsKeep: 0,
    upgradeCopiesDays: 0,
  },
  egress: { allow: [], proxy: '', proxyCredentialsFile: '', noProxy: [], proxyResolves: false },
  artifacts: { deadlineSeconds: 60, maxFileMb: 16, maxFiles: 1_000, maxTotalMb: 64 },
  browser: { enabled: false, executable: '', timeoutSeconds: 30, memoryMb: 512 },
  workspace: { quotaMb: 2048, userQuotaMb: 0, stickySeconds: 10, checkpoint: 'run' },
  disk: { keepFreeMb: 0 },
  metrics: { listen: '' },
  blobs: {
    s3: {
      endpoint: '',
      region: 'us-east-1',
      bucket: '',
      prefix: '',
      pathStyle: true,
      keyFile: '',
      caFile: '',
      encryption: '',
      kmsKey: '',
    },
    cacheMb: 10_240,
    redirect: false,
  },
  backup: { directory: '', at: '03:30', keepDays: 14, workspaces: true },
  traces: { otlpEndpoint: '', headersFile: '', sample: 1 },
  log: { level: 'info' },
};

export function aUser(over: Partial<User> = {}): User {
  return {
    seq: 1,
    id: '0198c0de-0000-7000-8000-000000000001',
    username: 'mara',
    fullName: 'Mara Vogt',
    department: 'Lab',
    role: 'user',
    teamId: null,
    functionalRole: null,
    scenario: null,
    disabled: false,
    createdAt: AT,
    updatedAt: AT,
    ...over,
  };
}

export function aKey(over: Partial<ApiKey> = {}): ApiKey {
  return {
    seq: 1,
    id: 'k1234567',
    userSeq: 1,
    name: 'test',
    scope: 'conversation',
    lastFour: 'wxyz',
    model: null,
    target: 'free',
    capabilityConfig: {},
    projectId: null,
    continueBy: null,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    createdAt: AT,
    ...over,
  };
}

const identity = (role: Role, scope: KeyScope, keySeq = 1): Identity => ({
  kind: 'key',
  user: aUser({ role }),
  key: aKey({ scope, seq: keySeq }),
});

/** Every kind of identity, by the credential that makes it. */
const IDENTITIES: ReadonlyMap<string, Identity> = new Map([
  ['conversation-key', identity('user', 'conversation')],
  ['global-key', identity('user', 'global')],
  ['second-key', identity('user', 'conversation', 2)],
  ['admin-key', identity('admin', 'admin')],
  ['demoted-admin-key', identity('user', 'admin')],
  ['global-key-of-admin', identity('admin', 'global')],
  ['token-of-user', { kind: 'token', user: aUser() }],
  ['token-of-admin', { kind: 'token', user: aUser({ role: 'admin' }) }],
]);

const authenticate: Operations['authenticate'] = async (credential, { viaSocket }) => {
  if (credential === null && viaSocket) return { kind: 'operator' };
  if (credential === 'disabled-key' || credential === 'disabled-token')
    throw new ErrandError('forbidden', 'The user is disabled.');
  const found = credential === null ? undefined : IDENTITIES.get(credential);
  if (found === undefined) throw new ErrandError('unauthenticated', 'The API key is missing or invalid.');
  return found;
};

export const STATUS: StatusReport = {
  version: '0.1.0',
  nodeVersion: 'v24.0.0',
  pid: 42,
  startedAt: AT,
  uptimeSeconds: 7,
  ready: true,
  listen: '127.0.0.1:8484',
  publicUrl: 'http://127.0.0.1:8484',
  dataDir: '/data',
  configDir: '/config',
  parts: [{ name: 'store', state: 'ok', detail: null }],
  runs: { queued: 1, running: 2, waiting: 0, finalizing: 0 },
  workers: { threads: 1, slots: 2, busy: 2 },
  node: { id: nodeId(1), name: 'tide' },
  nodes: [aKnownNode({ name: 'tide', slots: 8 })],
  webhooks: {
    failing: 1,
    disabled: 1,
    webhooks: [
      { id: 7, name: 'Ledger', failingSince: AT, failures: 12, disabledReason: 'It is gone.' },
      { id: 3, name: 'CI', failingSince: AT, failures: 1, disabledReason: null },
    ],
  },
  models: [{ name: 'qwen', endpoint: 'local', kind: 'openai', default: true }],
};

/** Runs kept in memory, with the real bus and tails over their events. */
function makeRunBook() {
  const bus = makeBus();
  const events: JournalEvent[] = [];
  const runs: Run[] = [];
  const waiters = new Set<() => void>();

  const inOnePage = (some: readonly JournalEvent[]) => ({ events: some, isCut: false });
  const listOfRun = async (runSeq: number, afterId: number, limit: number) =>
    inOnePage(events.filter((event) => event.runSeq === runSeq && event.id > afterId).slice(0, limit));

  const isOver = async (runSeq: number) => runs.some(({ seq, finishedAt }) => seq === runSeq && finishedAt !== null);

  return {
    events,
    runs,
    tails: makeTails({ bus, events: { listOfRun, isOver } }),
    /** A queued run with its first event. */
    open(over: Partial<Run> = {}): Run {
      const run: Run = {
        seq: runs.length + 1,
        id: newId(AT + runs.length),
        sessionSeq: 1,
        sessionId: newId(AT),
        userSeq: 1,
        keySeq: 1,
        protocol: 'messages',
        status: 'queued',
        scheduleMode: 'immediate',
        attempt: 0,
        resumes: 0,
        requestedModel: 'errand',
        model: null,
        includeUsage: false,
        wantsStructured: false,
        resultInContent: false,
        resultTool: null,
        usage: NO_USAGE,
        costUsd: 0,
        stopReason: null,
        error: null,
        answer: null,
        structuredOutput: null,
        backgroundPayload: null,
        response: null,
        createdAt: AT,
        startedAt: null,
        finishedAt: null,
        ...over,
      };
      runs.push(run);
      this.commit(run, [{ type: 'run.queued', payload: { scheduleMode: 'immediate' } }]);
      return run;
    },
    /** Writes events of a run and publishes them, as one commit. */
    commit(run: Run, fresh: readonly NewEvent[]): void {
      const written = fresh.map(
        (event, index): JournalEvent => ({
          ...event,
          id: events.length + 1 + index,
          sessionSeq: 1,
          runSeq: run.seq,
          streamSeq: events.length + 1 + index,
          createdAt: AT,
        }),
      );
      events.push(...written);
      bus.publish(written);
    },
    /** Moves a run and wakes those who wait for it. */
    move(run: Run, over: Partial<Run>): void {
      runs[run.seq - 1] = { ...runs[run.seq - 1]!, ...over };
      for (const wake of waiters) wake();
    },
    async ended(run: Run, signal: AbortSignal): Promise<Run> {
      return new Promise((resolve, reject) => {
        const look = () => {
          const now = runs[run.seq - 1]!;
          if (!isTerminal(now.status) && !signal.aborted) return;
          waiters.delete(look);
          signal.removeEventListener('abort', look);
          if (signal.aborted) reject(signal.reason as Error);
          else resolve(now);
        };
        waiters.add(look);
        signal.addEventListener('abort', look);
        look();
      });
    },
    waiting: () => waiters.size,
  };
}

type RunBook = ReturnType<typeof makeRunBook>;

export const USAGE = { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 10 };

/** The events of a run that answers `text`, after `run.queued`. */
export function answering(text: string): NewEvent[] {
  return [
    { type: 'run.started', payload: { attempt: 1, model: 'qwen' } },
    { type: 'content_block_start', payload: { index: 0 } },
    { type: 'content_block_delta', payload: { index: 0, text } },
    { type: 'content_block_stop', payload: { index: 0 } },
    { type: 'run.step', payload: { step: 1, inputTokens: 100, outputTokens: 7, textPreview: text, calls: [] } },
    { type: 'run.finalizing', payload: { stopReason: 'end_turn', usage: USAGE } },
    { type: 'message', payload: { messageId: 2, role: 'assistant', textPreview: text, usage: USAGE } },
    { type: 'run.done', payload: { status: 'completed' } },
  ];
}

/** Ends a run with an answer. */
export function finish(book: RunBook, run: Run, text: string): void {
  book.commit(run, answering(text));
  book.move(run, { status: 'completed', answer: text, stopReason: 'end_turn', usage: USAGE, finishedAt: AT });
}

export interface FixtureOptions {
  readonly operations?: Partial<Operations>;
  readonly settings?: Partial<Settings>;
  readonly parts?: Partial<HttpParts>;
  /** The log, when operations write to it, too. */
  readonly logged?: ReturnType<typeof loggedLines>;
  /** What an accepted run does; replies "Hello." at once when absent. */
  readonly play?: (run: Run, book: RunBook) => void;
}

/** A log whose lines a test reads. */
export function loggedLines() {
  const lines: Record<string, unknown>[] = [];
  const outlet = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
      done();
    },
  });
  return { log: makeLog({ level: 'info' }, outlet), lines };
}

function findResponse(book: RunBook, runId: string): Run {
  const run = book.runs.find(({ id }) => id === runId);
  if (run === undefined) throw notFound('Response');
  return run;
}

/** Of the installation of these tests. */
export const OFFICE_COOKIE = 'errand_office_00000000';

/** Starts the application on TCP and on a Unix socket until the test ends. */
export async function openFixture(options: FixtureOptions = {}) {
  const book = makeRunBook();
  const turns: TurnInput[] = [];
  const { log, lines } = options.logged ?? loggedLines();
  const drain = new AbortController();
  const spoolDirectory = temporaryDirectory();
  const play = options.play ?? ((run, runs) => finish(runs, run, 'Hello.'));
  const operations = {
    authenticate,
    officeLogins: {
      cookieName: OFFICE_COOKIE,
      identify: () => Promise.reject(new ErrandError('unauthenticated', 'Nobody has logged in.')),
      requireOn: () => undefined,
    },
    acceptTurn: async (_caller, input) => {
      turns.push(input);
      const {
        protocol,
        model: requestedModel,
        includeUsage,
        outputSchema,
        resultInContent,
        resultTool,
        response,
      } = input;
      const run = book.open({
        protocol,
        requestedModel,
        includeUsage,
        wantsStructured: outputSchema !== null,
        resultInContent,
        resultTool,
        response,
      });
      play(run, book);
      return { run, replayed: false };
    },
    awaitResult: (_caller, run, left) => book.ended(run, left.signal),
    followRun: async (caller, runId) => {
      const run = book.runs.find(({ id }) => id === runId);
      if (run === undefined) throw notFound('Run');
      if (caller.reach === 'key' && run.keySeq !== caller.key.seq)
        throw new ErrandError('forbidden', 'The run belongs to another API key.');
      return { ...run, userId: '', username: '', keyId: '' };
    },
    getResponse: async (_caller, id) => findResponse(book, id),
    followResponse: async (_caller, id) => findResponse(book, id),
    listMessages: async (_caller, sessionId) => ({ sessionId, messages: inOnePortion([]) }),
    getModelName: () => 'qwen',
    getStatus: async () => STATUS,
    getConfiguration: async () => ({
      configDir: STATUS.configDir,
      problems: [],
      pins: { pins: [], total: 0 },
      settings: [],
    }),
    withPosition: async (_caller, run) => ({ run, queuePosition: run.status === 'queued' ? 1 : null }),
    ...options.operations,
  } as Operations;
  const parts: HttpParts = {
    openSpool: makeOpenSpool(spoolDirectory),
    operations,
    tail: book.tails,
    settings: () => ({ ...SETTINGS, ...options.settings }),
    isPublicUrlSet: () => true,
    clock: systemClock,
    slices: makeSlices(systemClock),
    log,
    readiness: (): Readiness => ({ ready: true, parts: STATUS.parts }),
    starting: () => null,
    renderer: { render: async () => ({ kind: 'refused' }) },
    draining: drain.signal,
    ...options.parts,
  };
  const app = makeHttpApp(parts);
  const socketPath = `${temporaryDirectory()}/errand.sock`;
  const tcp = await listen(makeHttpServer(app), { port: 0, host: '127.0.0.1' });
  const forOperator = makeHttpServer(app);
  setPeers(forOperator, 'operator');
  const local = await listen(forOperator, { path: socketPath });
  const { port } = tcp.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    socketPath,
    spoolDirectory,
    tcp,
    local,
    parts,
    book,
    turns,
    lines,
    drain,
  };
}

export type Fixture = Awaited<ReturnType<typeof openFixture>>;

async function listen(server: Server, where: { port: number; host: string } | { path: string }): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(where, resolve));
  onTestFinished(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  });
  return server;
}

export interface Sent {
  readonly method?: string;
  readonly path: string;
  /** Credential, sent as `Authorization: Bearer`. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** An object is sent as JSON with its content type; text and bytes as they are. */
  readonly body?: object | string | Buffer;
  readonly via?: 'tcp' | 'socket';
}

export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON, undefined when it is none. */
  readonly json: unknown;
}

/** Sends one request exactly as said, on a connection of its own, and reads the whole reply. */
export async function send(fixture: Fixture, { method = 'GET', path, as, headers, body, via }: Sent): Promise<Got> {
  const isJson = body !== undefined && typeof body === 'object' && !Buffer.isBuffer(body);
  const payload = isJson ? JSON.stringify(body) : body;
  return new Promise((resolve, reject) => {
    const req = httpRequest({
      ...(via === 'socket' ? { socketPath: fixture.socketPath } : { host: '127.0.0.1', port: fixture.port }),
      method,
      path,
      agent: false,
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...(isJson ? { 'content-type': 'application/json' } : {}),
        ...(payload === undefined || headers?.['transfer-encoding'] !== undefined
          ? {}
          : { 'content-length': Buffer.byteLength(payload) }),
        ...headers,
      },
    });
    req.once('error', reject);
    req.once('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.once('error', reject);
      res.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJsonReply = res.headers['content-type']?.startsWith('application/json') && text !== '';
        const json = isJsonReply ? (JSON.parse(text) as unknown) : undefined;
        const status = res.statusCode!;
        try {
          if (isJsonReply) holdReply({ method, path: pathOf(path), status, json });
          if (res.headers['content-type']?.startsWith('text/event-stream'))
            holdEvents({ method, path: pathOf(path), text });
          resolve({ status, headers: res.headers, text, json });
        } catch (error) {
          reject(error);
        }
      });
    });
    req.end(payload);
  });
}

/** The path of a target, which may be a whole address. */
const pathOf = (target: string) => target.replace(/^https?:\/\/[^/?#]*/, '').split('?')[0]!;

/** The smallest good request of either conversation endpoint. */
export const TURN = { model: 'errand', messages: [{ role: 'user', content: 'Hi' }] };

/** The smallest good request of Responses. */
export const INPUT = { model: 'errand', input: 'Hi' };
