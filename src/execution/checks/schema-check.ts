// Checks callers' schemas on a thread of their own: one at a time, each within CPU time that the thread counts itself, and
// within a deadline behind it that costs the thread its life.
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type SchemaFault, TOO_COMPLEX } from '../../agent/result/result-schema.ts';
import type { Clock, Timer } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Log } from '../../log/log.ts';

export interface SchemaCheckParts {
  readonly clock: Clock;
  readonly log: Log;
  /** How long one schema may take by the clock. */
  readonly deadlineMs?: number;
}

/** Only for a thread that can't count any more: longer than the CPU time of a schema takes on a busy machine. */
const DEADLINE_MS = 60_000;
const IDLE_MS = 60_000;
const MAX_WAITING = 32;
const MAX_KNOWN = 256;
const MEMORY_MB = 128;

interface Job {
  readonly schema: JsonObject;
  readonly name: string;
  readonly resolve: (fault: SchemaFault | null) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  ready: boolean;
}

/** The check of schemas. Its thread lives while there is work, and a minute longer. */
export class SchemaCheck {
  readonly #parts: SchemaCheckParts;
  /** Verdicts by the schema's hash, the oldest first. */
  readonly #known = new Map<string, SchemaFault | null>();
  readonly #waiting: Job[] = [];
  #current: Job | undefined;
  #thread: Thread | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(parts: SchemaCheckParts) {
    this.#parts = parts;
  }

  /** What is wrong with a schema, or null. Throws `unavailable` when too many wait, or no thread can be had. */
  async check(schema: JsonObject): Promise<SchemaFault | null> {
    const name = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (this.#stopped || this.#waiting.length >= MAX_WAITING) throw unavailable();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ schema, name, resolve, reject });
      this.#next();
    });
  }

  /** Ends the thread; who still waits is refused. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const job of [...this.#waiting.splice(0), ...(this.#current === undefined ? [] : [this.#current])])
      job.reject(unavailable());
    this.#current = undefined;
    await this.#endThread();
  }

  #next(): void {
    if (this.#current !== undefined || this.#stopped) return;
    this.#timer?.cancel();
    this.#current = this.#waiting.shift();
    if (this.#current === undefined) {
      this.#timer = this.#parts.clock.after(IDLE_MS, () => void this.#endThread());
    } else if (this.#thread === undefined) {
      this.#startThread();
    } else if (this.#thread.ready) this.#send(this.#thread, this.#current);
  }

  #send({ worker }: Thread, job: Job): void {
    worker.postMessage(job.schema, []);
    this.#timer = this.#parts.clock.after(this.#parts.deadlineMs ?? DEADLINE_MS, () => {
      this.#parts.log.warn('a schema took too long to compile; its thread was ended');
      void this.#endThread();
      this.#settle((current) => current.resolve(TOO_COMPLEX));
    });
  }

  #startThread(): void {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`../../agent/result/schema-thread.${extension}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    const thread: Thread = { worker, ready: false };
    this.#thread = thread;
    worker.unref();
    worker.on('message', (message: 'ready' | { fault: SchemaFault | null }) => {
      if (this.#thread !== thread) return;
      if (message === 'ready') {
        thread.ready = true;
        if (this.#current !== undefined) this.#send(thread, this.#current);
      } else {
        if (this.#current !== undefined) this.#remember(this.#current.name, message.fault);
        this.#settle((job) => job.resolve(message.fault));
      }
    });
    // Without a listener the error would end the daemon; `exit` follows it.
    worker.on('error', (error) => this.#parts.log.warn({ err: error }, 'the thread that checks schemas failed'));
    worker.on('exit', () => this.#lost(thread));
  }

  /** A thread that died over a schema ran out of memory or stack; one that never got ready says nothing about it. */
  #lost(thread: Thread): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#settle((job) => (thread.ready ? job.resolve(TOO_COMPLEX) : job.reject(unavailable())));
  }

  #settle(how: (job: Job) => void): void {
    const job = this.#current;
    this.#current = undefined;
    if (job !== undefined) how(job);
    this.#next();
  }

  #remember(name: string, fault: SchemaFault | null): void {
    this.#known.set(name, fault);
    const oldest = this.#known.keys().next();
    if (this.#known.size > MAX_KNOWN && oldest.done !== true) this.#known.delete(oldest.value);
  }

  async #endThread(): Promise<void> {
    this.#timer?.cancel();
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.worker.terminate();
  }
}

function unavailable(): ErrandError {
  return new ErrandError('unavailable', 'The schema cannot be checked now.');
}
