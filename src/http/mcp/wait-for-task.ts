// Waits until a task ends or asks a question, and tells meanwhile what it does.
import type { Clock } from '../../domain/clock.ts';
import { activityOf } from '../../domain/sessions/activity.ts';
import type { EventPayloads, EventType, JournalEvent } from '../../domain/sessions/journal-event.ts';
import type { Tails } from '../../events/tail.ts';
import type { LookedAt } from '../../operations/turns/tasks.ts';
import type { WatchCredential } from '../frame/credential-watch.ts';
import type { ToolCall } from './call.ts';

export interface WaitParts {
  readonly tail: Tails;
  readonly clock: Clock;
  /** Fires when waits must end because the daemon does. */
  readonly draining: AbortSignal;
  readonly watchCredential: WatchCredential;
}

/** How often a client is told, at most, and at least: many wait longer for whoever tells something. */
const REPORT_MS = 1_000;
const LONGEST_SILENCE_MS = 10_000;

/** What an event says of what is being done. */
const WORDS: { readonly [T in EventType]?: (payload: EventPayloads[T]) => string } = {
  'run.queued': () => 'waits for its turn',
  'run.started': ({ model }) => `asks ${model}`,
  'run.step': ({ textPreview }) => textPreview,
  tool_use: ({ name, input }) => activityOf(name, JSON.stringify(input)),
  'model_wait.started': ({ message }) => message,
  'run.finalizing': () => 'finishes',
};

const MAX_WORDS = 300;

/**
 * Makes the wait. It ends with the task, with a question, after `ms`, when the call is left, and when the daemon ends. Rejects when its credential
 * is no longer valid, and when the journal can't be read.
 */
export function makeWaitForTask({ tail: tails, clock, draining, watchCredential }: WaitParts) {
  return async ({ exchange, left, report }: ToolCall, { run, newestId }: LookedAt, ms: number): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let words = '';
    const follow = (event: JournalEvent) => {
      words = wordsOf(event) || words;
      if (event.type === 'user_input.requested') resolve();
    };
    const tail = tails.follow(run, newestId, {
      events: (events) => events.forEach(follow),
      end: resolve,
      failed: reject,
    });
    const timer = clock.after(ms, resolve);
    const reports = report === null ? undefined : reportEach(clock, report, () => words);
    const unwatch = watchCredential(exchange.admit, reject);
    const finish = () => resolve();
    left.listen(finish);
    draining.addEventListener('abort', finish);
    if (draining.aborted) finish();
    try {
      await promise;
    } finally {
      tail.close();
      timer.cancel();
      reports?.end();
      unwatch();
      left.leave(finish);
      draining.removeEventListener('abort', finish);
    }
  };
}

function wordsOf({ type, payload }: JournalEvent): string {
  const say = WORDS[type] as ((payload: object) => string) | undefined;
  return (say?.(payload) ?? '').replace(/\s+/g, ' ').trim().slice(0, MAX_WORDS).toWellFormed();
}

/** Reports what is new, and again what isn't. */
function reportEach(clock: Clock, report: (words: string) => void, wordsNow: () => string): { end(): void } {
  let [told, toldAt] = ['', clock.monotonic()];
  let timer = clock.after(REPORT_MS, look);
  function look(): void {
    const [words, now] = [wordsNow(), clock.monotonic()];
    if (words !== told || now - toldAt >= LONGEST_SILENCE_MS) {
      report(words);
      [told, toldAt] = [words, now];
    }
    timer = clock.after(REPORT_MS, look);
  }
  return { end: () => timer.cancel() };
}
