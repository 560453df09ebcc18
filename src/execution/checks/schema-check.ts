// Checks callers' schemas on a thread of their own: one at a time, each within CPU time that the thread counts itself, and
// within a deadline behind it that costs the thread its life.
import { createHash } from 'node:crypto';
import { type SchemaFault, TOO_COMPLEX } from '../../agent/result/result-schema.ts';
import type { SchemaVerdict } from '../../agent/result/schema-worker.ts';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Log } from '../../log/log.ts';
import { ResidentThread } from '../../threads/resident.ts';
import type { ThreadEnd } from '../../threads/thread-end.ts';
import { threadFile } from '../../threads/thread-file.ts';

export interface SchemaCheckParts {
  readonly clock: Clock;
  readonly log: Log;
  /** How long one schema may take by the clock. */
  readonly deadlineMs?: number;
}

/** The check of schemas. Its thread lives while there is work, and a minute longer. */
export interface SchemaCheck {
  /** What is wrong with a schema, or null. Throws `unavailable` when too many wait, or no thread can be had. */
  check(schema: JsonObject): Promise<SchemaFault | null>;
  /** Ends the thread; who still waits is refused. */
  stop(): Promise<void>;
}

/** Only for a thread that can't count any more: longer than the CPU time of a schema takes on a busy machine. */
const DEADLINE_MS = 60_000;
const MAX_WAITING = 32;
const MAX_KNOWN = 256;

export function makeSchemaCheck({ clock, log, deadlineMs = DEADLINE_MS }: SchemaCheckParts): SchemaCheck {
  /** Verdicts by the schema's hash, the oldest first. */
  const known = new Map<string, SchemaFault | null>();
  const thread = new ResidentThread<JsonObject, SchemaVerdict>({
    clock,
    file: threadFile('../../agent/result/schema-worker.ts', import.meta.url),
    memoryMb: 128,
    idleMs: 60_000,
    maxAtOnce: 1,
    maxOrders: 1 + MAX_WAITING,
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
      const end = await thread.order({
        messages: [schema],
        hear: ({ fault }) => ({ value: fault }),
        deadlineMs,
        late: () => log.warn('a schema took too long to compile; its thread was ended'),
      });
      if (end.kind === 'done') remember(name, end.value);
      return faultOf(end);
    },
    stop: async () => thread.stop(),
  };
}

/** A thread that died over a schema ran out of time, memory or stack; one that never started says nothing about it. */
function faultOf(end: ThreadEnd<SchemaFault | null>): SchemaFault | null {
  if (end.kind === 'done') return end.value;
  if (end.kind === 'timeout' || end.kind === 'out_of_memory' || end.kind === 'crashed') return TOO_COMPLEX;
  throw new ErrandError('unavailable', 'The schema cannot be checked now.');
}
