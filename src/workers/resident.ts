// Hosts a thread that serves many requests, a few of them at a time, and is replaced when it dies.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../domain/clock.ts';
import { heapLimits } from './heap-limits.ts';
import { failureOf, type TaskEnd, type TaskFailure } from './task-end.ts';

/** Posted by the thread as soon as it can accept requests. */
export const READY = 'ready';

/** A message with the number of its request, as both sides post it. */
export interface Numbered<Message> {
  readonly id: number;
  readonly message: Message;
}

export interface ResidentParts {
  readonly clock: Clock;
  readonly file: URL;
  /** V8 heap limit of the thread. */
  readonly heapMb: number;
  /** How long the thread lives without requests. */
  readonly idleMs: number;
  /** Requests that the thread has concurrently. */
  readonly maxAtOnce: number;
  /** How many of these may be long ones, so that the others need not wait for them. */
  readonly maxLong?: number;
  /** Requests in progress and waiting; one more is `busy`. */
  readonly maxRequests?: number;
  /** Called with each error that ends a thread. */
  failed(error: Error): void;
}

export interface Request<To, From, T> {
  /** The messages to the thread, with a turn of the event loop after each. */
  readonly messages: Iterable<To>;
  /** Whether it may take much longer than others, see `maxLong`. */
  readonly isLong?: boolean;
  /** Called with each message of the thread about the request. Returns the result when it is the last. */
  onMessage(message: From, post: (message: To) => void): { readonly value: T } | undefined;
  /** Starts at the last of its messages. A thread that exceeds it is ended, together with its other requests. */
  readonly deadlineMs: number;
  /** Called when the deadline has passed, before the thread has ended. */
  late(): void;
  /** When the signal aborts, a waiting request leaves; for one in progress the message is posted, and the thread ends it. */
  readonly cancel?: { readonly signal: AbortSignal; readonly message: To } | undefined;
}

interface Job<To, From> extends Omit<Request<To, From, unknown>, 'onMessage'> {
  /** Returns whether it was the last message. */
  onMessage(message: From, post: (message: To) => void): boolean;
  fail(failure: TaskFailure): void;
  timer?: Timer;
  isLate?: boolean;
}

interface Thread {
  readonly worker: Worker;
  state: 'starting' | 'ready' | 'ending';
  failure: TaskFailure;
}

/** The requests that wait and those that the thread has, and the thread's life. */
export class ResidentThread<To, From> {
  readonly #parts: ResidentParts;
  readonly #waiting: Job<To, From>[] = [];
  readonly #atWork = new Map<number, Job<To, From>>();
  #thread: Thread | undefined;
  #idle: Timer | undefined;
  #lastId = 0;
  #stopped = false;

  constructor(parts: ResidentParts) {
    this.#parts = parts;
  }

  /** Has a request executed. When the thread is lost, resolves after its end: no part of the request is still executing. */
  async request<T>(request: Request<To, From, T>): Promise<TaskEnd<T>> {
    if (this.#stopped) return { kind: 'stopped' };
    if (this.#waiting.length + this.#atWork.size >= (this.#parts.maxRequests ?? Infinity)) return { kind: 'busy' };
    const { cancel } = request;
    if (cancel?.signal.aborted === true) return { kind: 'cancelled' };
    const { promise, resolve } = Promise.withResolvers<TaskEnd<T>>();
    const onMessage: Job<To, From>['onMessage'] = (message, post) => {
      const last = request.onMessage(message, post);
      if (last !== undefined) resolve({ kind: 'done', value: last.value });
      return last !== undefined;
    };
    const job: Job<To, From> = { ...request, onMessage, fail: resolve };
    const aborted = () => this.#cancel(job);
    cancel?.signal.addEventListener('abort', aborted);
    this.#waiting.push(job);
    this.#next();
    try {
      return await promise;
    } finally {
      cancel?.signal.removeEventListener('abort', aborted);
    }
  }

  /** Ends the thread; requests in progress and new ones are `stopped`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#idle?.cancel();
    for (const job of this.#waiting.splice(0)) job.fail({ kind: 'stopped' });
    // Its requests fail when it has exited.
    await this.#endThread();
  }

  #cancel(job: Job<To, From>): void {
    const place = this.#waiting.indexOf(job);
    if (place !== -1) {
      this.#waiting.splice(place, 1);
      job.fail({ kind: 'cancelled' });
    }
    for (const [id, other] of this.#atWork) if (other === job) this.#postCancel(id, job);
  }

  #next(): void {
    this.#idle?.cancel();
    if (this.#stopped) return;
    if (this.#waiting.length === 0) {
      if (this.#atWork.size === 0)
        this.#idle = this.#parts.clock.after(this.#parts.idleMs, () => void this.#endThread());
      return;
    }
    this.#thread ??= this.#startThread();
    if (this.#thread?.state !== 'ready') return;
    while (this.#atWork.size < this.#parts.maxAtOnce) {
      const job = this.#takeWaiting();
      if (job === undefined) return;
      const id = (this.#lastId += 1);
      this.#atWork.set(id, job);
      void this.#send(id, job);
    }
  }

  /** The next request in line, past the long ones while there are enough of these at work. */
  #takeWaiting(): Job<To, From> | undefined {
    const { maxLong = Infinity } = this.#parts;
    const long = Array.from(this.#atWork.values()).filter(({ isLong }) => isLong === true).length;
    const place = this.#waiting.findIndex(({ isLong }) => isLong !== true || long < maxLong);
    return place === -1 ? undefined : this.#waiting.splice(place, 1)[0];
  }

  async #send(id: number, job: Job<To, From>): Promise<void> {
    for (const message of job.messages) {
      this.#post(id, message);
      await nextTurn();
      if (!this.#atWork.has(id)) return;
    }
    // Before the thread got the whole request, it may not know about it.
    if (job.cancel?.signal.aborted === true) this.#postCancel(id, job);
    job.timer = this.#parts.clock.after(job.deadlineMs, () => {
      job.isLate = true;
      job.late();
      void this.#endThread();
    });
  }

  #post(id: number, message: To): void {
    this.#thread?.worker.postMessage({ id, message } satisfies Numbered<To>, []);
  }

  #postCancel(id: number, { cancel }: Job<To, From>): void {
    if (cancel !== undefined) this.#post(id, cancel.message);
  }

  /** New requests wait for the next thread. */
  async #endThread(): Promise<void> {
    if (this.#thread === undefined) return;
    this.#thread.state = 'ending';
    await this.#thread.worker.terminate();
  }

  /** Undefined when the system refuses a thread, which Node.js throws rather than reports. */
  #startThread(): Thread | undefined {
    try {
      const { file, heapMb } = this.#parts;
      return this.#watch(new Worker(file, { resourceLimits: heapLimits(heapMb) }));
    } catch (error) {
      this.#parts.failed(error as Error);
      this.#failWaiting();
      return undefined;
    }
  }

  #watch(worker: Worker): Thread {
    const thread: Thread = { worker, state: 'starting', failure: { kind: 'crashed' } };
    worker.unref();
    worker.on('message', (message: typeof READY | Numbered<From>) => {
      if (message !== READY) this.#onMessage(message);
      else if (thread.state === 'starting') thread.state = 'ready';
      this.#next();
    });
    // Without a listener the error would end the daemon; `exit` follows it.
    worker.on('error', (error) => {
      thread.failure = failureOf(error as NodeJS.ErrnoException);
      this.#parts.failed(error as Error);
    });
    worker.on('exit', () => this.#lost(thread));
    return thread;
  }

  #onMessage({ id, message }: Numbered<From>): void {
    const job = this.#atWork.get(id);
    if (job?.onMessage(message, (answer) => this.#post(id, answer)) === true) this.#leave(id);
  }

  #leave(id: number): void {
    this.#atWork.get(id)?.timer?.cancel();
    this.#atWork.delete(id);
  }

  #lost({ state, failure }: Thread): void {
    this.#thread = undefined;
    for (const [id, job] of this.#atWork) {
      this.#leave(id);
      if (this.#stopped) job.fail({ kind: 'stopped' });
      else job.fail(job.isLate === true ? { kind: 'timeout' } : failure);
    }
    // A thread that can't start would be started again forever.
    if (state === 'starting') this.#failWaiting();
    this.#next();
  }

  #failWaiting(): void {
    for (const job of this.#waiting.splice(0)) job.fail({ kind: 'not_started' });
  }
}
