// Renders on separate threads, each with limits of time and memory, and keeps the results.
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log/log.ts';
import { makeOneShotHost } from '../threads/one-shot.ts';
import type { ThreadEnd } from '../threads/thread-end.ts';
import { threadFile } from '../threads/thread-file.ts';
import { makeRenderCache } from './render-cache.ts';
import type { RenderResult, RenderTask } from './rendering.ts';

export interface RendererParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxCpuMs?: number;
  readonly maxTasks?: number;
}

/** What to render. `key` names the result: one key, one result. */
export interface RenderOrder {
  readonly key: string;
  /** Whose it is: one text of an owner is rendered at a time. */
  readonly owner: string;
  /** Called when its turn has come, unless the result is known. */
  load(): Promise<RenderTask>;
}

export interface Renderer {
  /**
   * Renders a text, or returns what is known of it. `busy` when it isn't rendered in time for a person who waits; it may be
   * the next time. Rejects with what `load` rejects with.
   */
  render(order: RenderOrder): Promise<RenderResult | Busy>;
  /** Ends the threads. */
  stop(): Promise<void>;
}

interface Busy {
  readonly kind: 'busy';
}

const MEBIBYTE = 1024 * 1024;
const CACHE_BYTES = 8 * MEBIBYTE;
/** CPU time of a thread: much more than an honest document takes. */
const MAX_CPU_MS = 4_000;
/** By the clock, on a machine that has much else to do. */
const DEADLINE_MS = 20_000;
/** How long a person waits for the rendered form before getting the source. */
const PATIENCE_MS = 8_000;
const MAX_TASKS = 32;
/** Of one owner. */
const MAX_OWN_TASKS = 8;
const BUSY: Busy = { kind: 'busy' };

/** Makes the renderer. It renders two texts at a time, and one of each owner, so that hostile ones of one don't hold up others'. */
export function makeRenderer({ clock, log, maxCpuMs = MAX_CPU_MS, maxTasks = MAX_TASKS }: RendererParts): Renderer {
  const cache = makeRenderCache(CACHE_BYTES, clock);
  const inProgress = new Map<string, Promise<RenderResult | Busy>>();
  const owners = new Map<string, Turns>();
  const threads = makeOneShotHost<RenderTask, RenderResult>({
    clock,
    file: threadFile('./render-worker.ts', import.meta.url),
    memoryMb: 256,
    maxExternalBytes: 64 * MEBIBYTE,
    maxCpuMs,
    env: {},
    maxAtOnce: 2,
  });

  async function execute({ key, load }: RenderOrder): Promise<RenderResult | Busy> {
    const end = await threads.run(async () => prepared(await load()), { deadlineMs: DEADLINE_MS });
    const result = resultOf(end);
    if (end.kind !== 'done') log.warn({ key, end: end.kind, ...errorOf(end) }, 'a text could not be rendered');
    if (result.kind !== 'busy') cache.set(key, result);
    return result;
  }

  /** Executes an order after the owner's others. */
  async function inTurn(order: RenderOrder): Promise<RenderResult | Busy> {
    const turns = owners.get(order.owner) ?? { count: 0, last: Promise.resolve() };
    if (inProgress.size >= maxTasks || turns.count >= MAX_OWN_TASKS) return BUSY;
    owners.set(order.owner, turns);
    turns.count += 1;
    const mine = turns.last.then(() => execute(order));
    turns.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      turns.count -= 1;
      if (turns.count === 0) owners.delete(order.owner);
    }
  }

  function start(order: RenderOrder): Promise<RenderResult | Busy> {
    const result = inTurn(order).finally(() => inProgress.delete(order.key));
    inProgress.set(order.key, result);
    return result;
  }

  return {
    render: async (order) => {
      const known = cache.get(order.key);
      if (known !== undefined) return known;
      const { promise: late, resolve } = Promise.withResolvers<Busy>();
      const patience = clock.after(PATIENCE_MS, () => resolve(BUSY));
      try {
        return await Promise.race([inProgress.get(order.key) ?? start(order), late]);
      } finally {
        patience.cancel();
      }
    },
    stop: threads.stop,
  };
}

/** The orders of one owner. */
interface Turns {
  count: number;
  /** Resolves when the last of them has ended. */
  last: Promise<unknown>;
}

/** A buffer that contains nothing else is transferred to the thread. */
function prepared(task: RenderTask) {
  const { buffer, byteLength } = task.bytes;
  return { task, transfer: byteLength === buffer.byteLength ? [buffer as ArrayBuffer] : [] };
}

function resultOf(end: ThreadEnd<RenderResult>): RenderResult | Busy {
  if (end.kind === 'done') return end.value;
  return end.kind === 'busy' || end.kind === 'stopped' ? BUSY : { kind: 'refused' };
}

const errorOf = (end: ThreadEnd<RenderResult>) => ('error' in end ? { err: end.error } : {});
