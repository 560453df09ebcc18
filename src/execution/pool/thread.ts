// A worker thread and the main thread's end of its port: starts runs there, and gives each what comes from it.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Brief, Message, ThreadControl } from '../../agent/port/protocol.ts';
import type { Clock, Timer } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import { launchThread } from './launch-thread.ts';
import { openRun, type RunOnThread, type RunSink, type WorkerRun } from './run-on-thread.ts';
import { makeWatch, type Watch } from './watch-thread.ts';

/** A thread ends after this time without runs. */
const IDLE_TIMEOUT_MS = 60_000;
/** How long runs keep a thread that the system refused: they are claimed again at once, and would be refused again. */
const REFUSED_MS = 5_000;

export interface ThreadParts {
  readonly clock: Clock;
  /** V8 heap limit. */
  readonly memoryMb: number;
  readonly hangTimeoutMs: number;
  /** Its one element is 1 while model calls have to ask for their budget, see `ThreadTask`. */
  readonly budgets: Int32Array<SharedArrayBuffer>;
  readonly windowMs: number;
  /** Called when its last run has ended. Whether it ends with it; otherwise it waits for others for a minute. */
  endsIdle(): boolean;
  /** Called once, before its runs are lost: it takes no others. */
  gone(): void;
  /** Called with an error that ends it while it has no runs, which would report it. */
  failed(error: unknown): void;
}

/** A thread, from its start to its exit. It takes runs at once. */
export class Thread {
  readonly #parts: ThreadParts;
  readonly #port: MessagePort;
  readonly #taken = new Int32Array(new SharedArrayBuffer(4));
  readonly #runs = new Map<number, RunOnThread>();
  readonly #pool: ReturnType<typeof launchThread>;
  readonly #watch: Watch;
  #isGone = false;
  #isRefused = false;
  #lastRun = 0;
  #idling: Timer | undefined;

  constructor(parts: ThreadParts) {
    const { clock, memoryMb, hangTimeoutMs, budgets, windowMs, failed } = parts;
    this.#parts = parts;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message: Message) => this.#take(message));
    port1.on('messageerror', () => void this.end('a message of its thread could not be read'));
    this.#pool = launchThread({
      task: { port: port2, taken: this.#taken, budgets, windowMs },
      memoryMb,
      failed: (error) => {
        if (!this.#hasRuns() && !this.#isGone) failed(error);
      },
      lost: (why) => this.#lose(why, false),
      refused: (why) => {
        if (this.#isGone || this.#isRefused) return;
        this.#isRefused = true;
        clock.after(REFUSED_MS, () => this.#lose(why, true));
      },
    });
    this.#watch = makeWatch({
      worker: () => this.#pool?.threads[0],
      ping: () => this.#post('ping'),
      hasRuns: () => this.#hasRuns() && !this.#isGone,
      clock,
      hangTimeoutMs,
    });
  }

  /** Whether the system refused it, or it died before it had its task: it will be gone soon. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** The number of its runs in progress. */
  get load(): number {
    return this.#runs.size;
  }

  start(brief: Brief, sink: RunSink): WorkerRun {
    this.#idling?.cancel();
    const name = (this.#lastRun += 1);
    const run = openRun(
      sink,
      (control) => this.#post({ run: name, control }),
      () => this.#over(name),
    );
    this.#runs.set(name, run);
    try {
      this.#port.postMessage({ run: name, brief, waiting: run.waiting } satisfies ThreadControl, []);
    } catch (error) {
      // The thread has nothing of it.
      queueMicrotask(() => run.lose(messageOf(error), false));
    }
    this.#watch.begin();
    return run;
  }

  /** Ends it. Its runs are lost when it has exited: it must not write to their workspaces when they are executed again. */
  async end(why: string): Promise<void> {
    this.#retire();
    await this.#pool?.destroy();
    this.#loseRuns(why, false);
  }

  #take(message: Message): void {
    if (this.#isGone) return;
    this.#watch.heard();
    for (const { run, signals } of message) this.#runs.get(run)?.take(signals);
    if (message.length > 0) Atomics.add(this.#taken, 0, 1);
  }

  /** A message that can't be sent is a crash, as one that can't be read: nobody knows what it would have changed. */
  #post(message: ThreadControl): void {
    try {
      this.#port.postMessage(message, []);
    } catch (error) {
      void this.end(messageOf(error));
    }
  }

  #over(run: number): void {
    this.#runs.delete(run);
    if (this.#hasRuns() || this.#isGone) return;
    if (this.#parts.endsIdle()) void this.end('its last run has ended');
    else this.#idling = this.#parts.clock.after(IDLE_TIMEOUT_MS, () => void this.end('it was idle'));
  }

  #hasRuns(): boolean {
    return this.#runs.size > 0;
  }

  /** Takes no runs from now on, and no messages: after one that is missing, none may count. */
  #retire(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#idling?.cancel();
    this.#parts.gone();
    this.#port.close();
  }

  #lose(why: string, wasRefused: boolean): void {
    // One that is ended loses its runs when it has exited.
    if (this.#isGone) return;
    this.#retire();
    this.#loseRuns(why, wasRefused);
  }

  #loseRuns(why: string, wasRefused: boolean): void {
    for (const run of Array.from(this.#runs.values())) run.lose(why, wasRefused);
  }
}
