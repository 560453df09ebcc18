// Plays the main thread of one run: collects its signals, acks what the journal would keep, grants permits.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { makeArgumentCheck } from '../../src/agent/loop/argument-check.ts';
import { runLoop } from '../../src/agent/loop/loop.ts';
import type { RetryPolicy } from '../../src/agent/models/retries.ts';
import { type ModelGrant, NO_EQUIPMENT } from '../../src/agent/port/grants.ts';
import type { Brief, Control, Message, Outcome, RunLimits, Signal } from '../../src/agent/port/protocol.ts';
import { NO_EXTRAS } from '../../src/domain/capabilities/model.ts';
import { PLAIN_WAYS } from '../../src/outbound/ways/ways.ts';
import type { Run, ToolPack } from '../../src/agent/loop/run.ts';
import { openWorkspace } from '../../src/agent/loop/run-workspace.ts';
import { type Channel, openChannel } from '../../src/agent/port/signals.ts';
import type { ExecutedTool, Tool } from '../../src/agent/port/tool.ts';
import type { Services } from '../../src/agent/port/services.ts';
import { aloneOn } from './run-port.ts';
import { ROOMY } from '../support/files/space.ts';
import { afterAll } from 'vitest';

export type SignalOf<T extends Signal['t']> = Extract<Signal, { t: T }>;

export const FAST_RETRIES: RetryPolicy = { tries: 5, firstDelayMs: 1, maxDelayMs: 4, maxRetryAfterMs: 600_000 };

/** Of silence, so long that no pause of a busy machine reaches them: the model server is on the thread of the run. */
export const LIMITS: RunLimits = {
  connectTimeoutMs: 60_000,
  firstTokenTimeoutMs: 120_000,
  idleTimeoutMs: 120_000,
  runTimeoutMs: 600_000,
  maxSteps: 10,
  maxReplyBytes: 4_194_304,
  patienceMs: 0,
  unprovenPatienceMs: 60_000,
};

export const GRANT: ModelGrant = {
  name: 'house-model',
  configured: 'as-the-test-says',
  kind: 'openai',
  baseUrl: 'http://127.0.0.1:9',
  apiKey: 'sk-secret-of-the-test',
  caFile: null,
  extras: NO_EXTRAS,
  model: 'scripted',
  contextWindow: 32_000,
  maxOutputTokens: 1_000,
  images: false,
  documents: false,
  structured: 'tool',
  thinkingTags: false,
  metered: false,
};

const workspaces: string[] = [];
// After the tests of the file that imports this: a worker of the test runner does not live to its exit.
afterAll(() => {
  for (const workspace of workspaces) rmSync(workspace, { recursive: true, force: true });
});

function makeWorkspace(): string {
  const workspace = mkdtempSync(join(tmpdir(), 'errand-agent-'));
  workspaces.push(workspace);
  return workspace;
}

/** A brief with one user message; every field can be replaced. */
export async function makeBrief(changes: Partial<Brief> = {}): Promise<Brief> {
  return {
    runId: '00000000-0000-7000-8000-000000000001',
    sessionId: '00000000-0000-7000-8000-000000000002',
    attempt: 1,
    workspace: changes.workspace ?? makeWorkspace(),
    workspaceOwner: null,
    announces: 'first',
    space: ROOMY,
    model: GRANT,
    instructions: 'Be brief.',
    compaction: null,
    history: [],
    historyIsCut: false,
    turn: { user: [{ type: 'text', text: 'Do it.' }], attachments: [], steps: [] },
    texts: {},
    outputSchema: null,
    tools: ['add', 'echo'],
    equipment: NO_EQUIPMENT,
    connectorToken: null,
    answers: {},
    sandbox: null,
    egress: [],
    ways: PLAIN_WAYS,
    limits: LIMITS,
    nextBlockIndex: 0,
    depth: 0,
    ...changes,
  };
}

/** A run of a brief on a channel, without packs. */
export function makeRun(brief: Brief, channel: Channel, changes: Partial<Run> = {}): Run {
  return {
    brief,
    channel,
    workspace: openWorkspace(brief),
    packs: [],
    retryPolicy: FAST_RETRIES,
    argumentFaults: makeArgumentCheck(),
    ...changes,
  };
}

/** Two tools that return their inputs. */
export function makeTools(): { tools: readonly ExecutedTool[]; echo: ExecutedTool; ran: string[] } {
  const ran: string[] = [];
  const number = { type: 'number' };
  const add: ExecutedTool = {
    kind: 'executes',
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: {
      type: 'object',
      properties: { a: number, b: number },
      required: ['a', 'b'],
      additionalProperties: false,
    },
    execute: ({ a, b }) => {
      ran.push(`add ${Number(a)} ${Number(b)}`);
      return Promise.resolve({ ok: true, output: String(Number(a) + Number(b)) });
    },
  };
  const echo: ExecutedTool = {
    kind: 'executes',
    name: 'echo',
    description: 'Gives back what it is given.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    execute: ({ text }) => {
      ran.push(`echo ${text as string}`);
      return Promise.resolve({ ok: true, output: text as string });
    },
  };
  return { tools: [add, echo], echo, ran };
}

export interface MainSide {
  readonly signals: Signal[];
  readonly batches: { readonly at: number; readonly batch: readonly Signal[] }[];
  /** Resolves with the `done` signal's outcome. */
  readonly done: Promise<Outcome>;
  of<T extends Signal['t']>(t: T): SignalOf<T>[];
  /** Resolves with the first signal that fits. */
  next(fits: (signal: Signal) => boolean): Promise<Signal>;
  control(control: Control): void;
  /** Closes the port, as a dying main thread does. */
  hangUp(): void;
  /** The stream's text, block by block. */
  blocks(): string[];
}

export interface MainManners {
  /** Whether to ack a signal; all are by default. */
  readonly acks?: (signal: Signal) => boolean;
  readonly permits?: boolean;
  /** What workers read of budgets; none by default. */
  readonly budgets?: Int32Array;
  /** What the main thread says of a model that a call has failed of; by default, that it isn't configured any more. */
  readonly currentModel?: () => Services['current_model']['output'];
  /** Is shown each signal as it comes. */
  readonly sees?: (signal: Signal) => void;
}

/** Sits at the main thread's end of a port. */
export function sitAtMain(port: MessagePort, manners: MainManners = {}): MainSide {
  const { acks = () => true, permits = true, currentModel = () => null, sees } = manners;
  const signals: Signal[] = [];
  const batches: MainSide['batches'] = [];
  const waiting = new Set<() => void>();
  const finished = Promise.withResolvers<Outcome>();
  const control = (message: Control) => port.postMessage(message);
  port.on('message', (message: Message) => {
    const batch = message.flatMap(({ signals: sent }) => sent);
    batches.push({ at: performance.now(), batch });
    for (const signal of batch) {
      signals.push(signal);
      sees?.(signal);
      if ('ack' in signal && acks(signal)) control({ t: 'ack', ack: signal.ack });
      if (signal.t === 'permit-wanted' && permits) control({ t: 'permit' });
      if (signal.t === 'request' && signal.service === 'current_model') {
        control({ t: 'reply', request: signal.request, reply: { ok: true, output: currentModel() } });
      }
      if (signal.t === 'done') finished.resolve(signal.outcome);
    }
    for (const look of waiting) look();
  });
  const next = (fits: (signal: Signal) => boolean) =>
    new Promise<Signal>((resolve) => {
      const look = () => {
        const found = signals.find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const of = <T extends Signal['t']>(t: T) => signals.filter((signal): signal is SignalOf<T> => signal.t === t);
  const blocks = () => {
    const texts: string[] = [];
    for (const { index, text } of of('text')) texts[index] = (texts[index] ?? '') + text;
    return texts;
  };
  return { signals, batches, done: finished.promise, of, next, control, hangUp: () => port.close(), blocks };
}

/** Runs the loop in this thread, with the test at the main thread's end. */
export function startRun(
  brief: Brief,
  tools: readonly Tool[],
  manners: MainManners & { retries?: RetryPolicy; packs?: readonly ToolPack[] } = {},
): MainSide {
  const { port1, port2 } = new MessageChannel();
  const main = sitAtMain(port1, manners);
  const channel = openChannel(aloneOn(port2), manners.budgets && { budgets: manners.budgets });
  const granted: ToolPack = async (run) => ({
    tools: tools.filter(({ name }) => run.brief.tools.includes(name)),
    notes: [],
    close: async () => undefined,
  });
  const packs = [granted, ...(manners.packs ?? [])];
  const run = makeRun(brief, channel, { packs, retryPolicy: manners.retries ?? FAST_RETRIES });
  void runLoop(run).then(
    (outcome) => channel.finish(outcome, run.workspace.isUntouched()),
    (error: unknown) => {
      const message = `bug: ${String(error)}`;
      channel.finish({ status: 'failed', error: { type: 'api_error', message, retryable: false } }, false);
    },
  );
  return main;
}
