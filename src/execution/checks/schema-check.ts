// Checks callers' schemas on a separate thread: one at a time, within a CPU time that the thread measures itself and
// within a longer deadline that ends the thread.
import { createHash } from 'node:crypto';
import { type SchemaFault, TOO_COMPLEX } from '../../agent/result/schema-fault.ts';
import type { SchemaVerdict } from '../../agent/result/schema-worker.ts';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Log } from '../../log/log.ts';
import { ResidentThread } from '../../workers/resident.ts';
import type { TaskEnd } from '../../workers/task-end.ts';
import { workerFile } from '../../workers/worker-file.ts';

export interface SchemaCheckParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Time limit of one schema by the clock. */
  readonly deadlineMs?: number;
}

/** The check of schemas. Its thread lives while there is work, and one minute longer. */
export interface SchemaCheck {
  /** What is wrong with a schema, or null. Throws `unavailable` when too many wait, or no thread can be started. */
  check(schema: JsonObject): Promise<SchemaFault | null>;
  /** Ends the thread; waiting checks are refused. */
  stop(): Promise<void>;
}

/** Only for a thread that can't measure any more: longer than a schema's CPU time takes on a busy machine. */
const DEADLINE_MS = 60_000;
const MAX_WAITING = 32;
const MAX_KNOWN = 256;

export function makeSchemaCheck({ clock, log, deadlineMs = DEADLINE_MS }: SchemaCheckParts): SchemaCheck {
  /** Verdicts by the schema's hash, the oldest first. */
  const known = new Map<string, SchemaFault | null>();
  const thread = new ResidentThread<JsonObject, SchemaVerdict>({
    clock,
    file: workerFile('../../agent/result/schema-worker.ts', import.meta.url),
    heapMb: 128,
    idleMs: 60_000,
    maxAtOnce: 1,
    maxRequests: 1 + MAX_WAITING,
    failed: (error) => log.warn({ err: error }, 'the thread that checks schemas failed'),
  });

  function remember(name: string, fault: SchemaFault | null): void {
    known.set(name, fault);
    const oldest = known.keys().next();
    if (known.size > MAX_KNOWN && oldest.done !== true) known.delete(oldest.value);
  }

  return {
    check: async (schema) => {
      const name = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
      const before = known.get(name);
      if (before !== undefined) return before;
      const end = await thread.request({
        messages: [schema],
        onMessage: ({ fault }) => ({ value: fault }),
        deadlineMs,
        late: () => log.warn('a schema took too long to compile; its thread was ended'),
      });
      if (end.kind === 'done') remember(name, end.value);
      return faultOf(end);
    },
    stop: async () => thread.stop(),
  };
}

/**
 * A thread that died while compiling a schema ran out of time, memory or stack; one that never started says nothing about it.
 */
function faultOf(end: TaskEnd<SchemaFault | null>): SchemaFault | null {
  if (end.kind === 'done') return end.value;
  if (end.kind === 'timeout' || end.kind === 'out_of_memory' || end.kind === 'crashed') return TOO_COMPLEX;
  throw new ErrandError('unavailable', 'The schema cannot be checked now.');
}
