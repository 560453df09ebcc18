// Renders in processes of their own, each with limits of time and memory, and keeps the results.
import { MB } from '../domain/byte-units.ts';
import { type Clock, within } from '../domain/clock.ts';
import { ErrandError } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import { inProcess, type ProcessTask } from '../workers/in-process.ts';
import { makeOneShotHost } from '../workers/one-shot.ts';
import { makeOwnerTurns } from '../workers/owner-turns.ts';
import type { TaskEnd } from '../workers/task-end.ts';
import { workerFile } from '../workers/worker-file.ts';
import { makeRenderCache } from './render-cache.ts';
import type { RenderResult, RenderTask } from './rendering.ts';

export interface RendererParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxCpuMs?: number;
  readonly maxTasks?: number;
}

/** What to render. */
export interface RenderRequest {
  /** Names the result: one key, one result. */
  readonly key: string;
  /** Names the text and how it is rendered, wherever it was published: one that takes too long does so everywhere. */
  readonly content: string;
  /** Whose it is: one text of an owner is rendered at a time. */
  readonly owner: string;
  /** Called when its turn has come, unless the result is known. */
  load(): Promise<RenderTask>;
}

export interface Renderer {
  /**
   * Renders a text, or returns what is known of it. `busy` when it isn't rendered in time for a person who waits; it may be
   * the next time. Rejects with what `load` rejects with, and with `unavailable` when the renderer is stopped.
   */
  render(request: RenderRequest): Promise<RenderResult | Busy>;
  /** Ends the processes. */
  stop(): Promise<void>;
}

interface Busy {
  readonly kind: 'busy';
}

const CACHE_BYTES = 8 * MB;
/** Refusals are kept apart, so that large documents don't push them out: some two thousand. */
const REFUSALS_BYTES = MB;
/** CPU time of a process: much more than an honest document takes. */
const MAX_CPU_MS = 4_000;
/** By the clock, on a machine that has much else to do. */
const DEADLINE_MS = 20_000;
/** How long a person waits for the rendered form before getting the source. */
const PATIENCE_MS = 8_000;
const MAX_TASKS = 32;
/** Of one owner. */
const MAX_OWN_TASKS = 8;
/** Of one whose text was too slow a while ago. */
const MAX_SLOW_TASKS = 1;
const BUSY: Busy = { kind: 'busy' };
const REFUSED: RenderResult = { kind: 'refused' };

/** Makes the renderer. It renders two texts at a time, in turns of their owners. */
export function makeRenderer({ clock, log, maxCpuMs = MAX_CPU_MS, maxTasks = MAX_TASKS }: RendererParts): Renderer {
  const cache = makeRenderCache(CACHE_BYTES, clock);
  const inProgress = new Map<string, Promise<RenderResult | Busy>>();
  const refusals = makeRenderCache(REFUSALS_BYTES, clock);
  const turns = makeOwnerTurns({ clock, maxOwn: MAX_OWN_TASKS, maxSlow: MAX_SLOW_TASKS });
  const processes = makeOneShotHost<ProcessTask<Omit<RenderTask, 'bytes'>>, RenderResult>({
    clock,
    start: inProcess({
      file: workerFile('./render-worker.ts', import.meta.url),
      heapMb: 256,
      memoryMb: 400,
      maxCpuMs,
    }),
    maxAtOnce: 2,
  });

  const isRefused = (content: string) => refusals.get(content) !== undefined;

  async function execute({ key, content, owner, load }: RenderRequest): Promise<RenderResult | Busy> {
    // The same text may have been tried under another key while this one waited.
    if (isRefused(content)) return REFUSED;
    const end = await processes.run(async () => prepared(await load()), { deadlineMs: DEADLINE_MS });
    const result = resultOf(end);
    if (end.kind !== 'done') log.warn({ key, end: end.kind, ...errorOf(end) }, 'a text could not be rendered');
    if (result.kind === 'refused') {
      refusals.set(content, result);
      if (end.kind !== 'done') turns.noteSlow(owner);
    } else if (result.kind !== 'busy') cache.set(key, result);
    return result;
  }

  /** Executes a request after the owner's others. */
  async function inTurn(request: RenderRequest): Promise<RenderResult | Busy> {
    if (inProgress.size >= maxTasks) return BUSY;
    return (await turns.take(request.owner, () => execute(request))) ?? BUSY;
  }

  function start(request: RenderRequest): Promise<RenderResult | Busy> {
    const task = taskOf(request);
    const result = inTurn(request).finally(() => inProgress.delete(task));
    inProgress.set(task, result);
    return result;
  }

  return {
    render: async (request) => {
      const known = isRefused(request.content) ? REFUSED : cache.get(request.key);
      if (known !== undefined) return known;
      return within(clock, PATIENCE_MS, inProgress.get(taskOf(request)) ?? start(request), BUSY);
    },
    stop: processes.stop,
  };
}

/** The same text of another owner is another task: it waits for none of this one's. */
const taskOf = ({ owner, key }: RenderRequest) => `${owner}\n${key}`;

function prepared({ bytes, ...task }: RenderTask): ProcessTask<Omit<RenderTask, 'bytes'>> {
  return { task, bytes };
}

function resultOf(end: TaskEnd<RenderResult>): RenderResult | Busy {
  if (end.kind === 'done') return alone(end.value);
  if (end.kind === 'stopped') throw new ErrandError('unavailable', 'The daemon is stopping. Try again in a moment.');
  return end.kind === 'busy' || end.kind === 'not_started' ? BUSY : REFUSED;
}

/** Without the rest of the message that it came in. */
function alone(result: RenderResult): RenderResult {
  return result.kind === 'html' ? { ...result, html: new Uint8Array(result.html) } : result;
}

const errorOf = (end: TaskEnd<RenderResult>) => ('error' in end ? { err: end.error } : {});
