// Renders on separate threads, each with limits of time and memory, and keeps the results.
import { type Clock, pause } from '../domain/clock.ts';
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
const BUSY: Busy = { kind: 'busy' };

/** Makes the renderer. It renders one text at a time, so that hostile ones take no more than one core. */
export function makeRenderer({ clock, log, maxCpuMs = MAX_CPU_MS, maxTasks = MAX_TASKS }: RendererParts): Renderer {
  const cache = makeRenderCache(CACHE_BYTES, clock);
  const inProgress = new Map<string, Promise<RenderResult | Busy>>();
  const threads = makeOneShotHost<RenderTask, RenderResult>({
    clock,
    file: threadFile('./render-worker.ts', import.meta.url),
    memoryMb: 256,
    maxExternalBytes: 64 * MEBIBYTE,
    maxCpuMs,
    env: {},
    maxAtOnce: 1,
    maxTasks,
  });

  async function execute({ key, load }: RenderOrder): Promise<RenderResult | Busy> {
    const end = await threads.run(async () => prepared(await load()), { deadlineMs: DEADLINE_MS });
    const result = resultOf(end);
    if (end.kind !== 'done') log.warn({ key, end: end.kind, ...errorOf(end) }, 'a text could not be rendered');
    if (result.kind !== 'busy') cache.set(key, result);
    return result;
  }

  return {
    render: async (order) => {
      const { key } = order;
      const known = cache.get(key);
      if (known !== undefined) return known;
      let result = inProgress.get(key);
      if (result === undefined) {
        result = execute(order).finally(() => inProgress.delete(key));
        inProgress.set(key, result);
      }
      return Promise.race([result, pause(clock, PATIENCE_MS).then(() => BUSY)]);
    },
    stop: threads.stop,
  };
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
