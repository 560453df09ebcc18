// The last words of the texts that runs write, for those who watch all runs: once a second for each run, however fast it writes.
import type { Clock, Timer } from '../domain/clock.ts';
import type { EventType, JournalEvent } from '../domain/sessions/journal-event.ts';
import { eventFrame } from '../wire/event-frame.ts';
import type { RunWords } from '../wire/office/stream.ts';
import type { EventScopes, ScopeSeqs } from './event-scopes.ts';

export interface LastWords {
  /** Takes the events of a commit. */
  take(events: readonly JournalEvent[]): void;
  /** Forgets all words: nobody watches. */
  forget(): void;
}

export interface LastWordsParts {
  readonly scopes: EventScopes;
  readonly clock: Clock;
  /** Sends the bytes of complete events. */
  send(bytes: Buffer): void;
  failed(error: unknown): void;
}

/** What is known of a run that writes. */
interface Writing extends ScopeSeqs {
  runSeq: number;
  id: number;
  streamSeq: number;
  text: string;
  isSent: boolean;
}

const MAX_CHARACTERS = 200;
/** With as many blanks as there are in most texts. */
const KEPT_CHARACTERS = 2 * MAX_CHARACTERS;
const EVERY_MS = 1_000;
/** Of more runs that write, each waits longer for its turn. */
const RUNS_AT_ONCE = 100;
const MOST_RUNS = 10_000;

/** Between two blocks of text; whatever else a run does ends what it wrote. */
const BETWEEN: ReadonlySet<EventType> = new Set(['content_block_start', 'content_block_stop']);

/** Makes them. Without texts there is no timer. */
export function makeLastWords({ scopes, clock, send, failed }: LastWordsParts): LastWords {
  /** In the order of their turns. */
  const runs = new Map<number, Writing>();
  let timer: Timer | undefined;

  function take(event: JournalEvent): void {
    const { id, runSeq, streamSeq, sessionSeq } = event;
    if (runSeq === null || streamSeq === null) return;
    const known = runs.get(runSeq);
    if (event.type !== 'content_block_delta') {
      if (known === undefined) return;
      if (BETWEEN.has(event.type)) known.text += ' ';
      else runs.delete(runSeq);
      return;
    }
    const text = ((known?.text ?? '') + endOf(event.payload.text)).slice(-KEPT_CHARACTERS);
    if (known !== undefined) Object.assign(known, { id, streamSeq, text, isSent: false });
    else {
      if (runs.size === MOST_RUNS) runs.delete(runs.keys().next().value!);
      runs.set(runSeq, { sessionSeq, runSeq, id, streamSeq, text, isSent: false });
    }
    arm();
  }

  function arm(): void {
    timer ??= clock.after(EVERY_MS, () => {
      timer = undefined;
      void sendSome().catch(failed);
    });
  }

  async function sendSome(): Promise<void> {
    const unsent = [...runs.values()].filter(({ isSent }) => !isSent);
    const some = unsent.slice(0, RUNS_AT_ONCE);
    if (some.some((run) => scopes.known(run) === undefined)) await scopes.lookUp(some);
    const frames: Buffer[] = [];
    for (const run of some) {
      // It may have ended during the look-up.
      if (runs.get(run.runSeq) !== run) continue;
      run.isSent = true;
      runs.delete(run.runSeq);
      runs.set(run.runSeq, run);
      const { sessionId, runId } = scopes.known(run)!;
      const text = lastOf(run.text);
      if (text !== '' && runId !== null) frames.push(frameOf(run, { session_id: sessionId, run_id: runId }, text));
    }
    if (frames.length > 0) send(Buffer.concat(frames));
    if (unsent.length > some.length) arm();
  }

  return {
    take: (events) => events.forEach(take),
    forget: () => {
      timer?.cancel();
      timer = undefined;
      runs.clear();
    },
  };
}

/** The end of a delta, copied: a part of a string keeps the whole of it in memory, which may have megabytes. */
const endOf = (text: string): string =>
  text.length <= KEPT_CHARACTERS ? text : Buffer.from(text.slice(-KEPT_CHARACTERS), 'utf16le').toString('utf16le');

/** On one line; its first word may have lost its beginning. */
function lastOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return (
    line.length > MAX_CHARACTERS ? line.slice(-MAX_CHARACTERS).replace(/^[\udc00-\udfff]/, '') : line
  ).toWellFormed();
}

function frameOf({ id, streamSeq }: Writing, ids: Pick<RunWords, 'session_id' | 'run_id'>, text: string): Buffer {
  const event: RunWords = { id, type: 'run.words', ...ids, stream_seq: streamSeq, payload: { text } };
  return eventFrame({ id: null, name: event.type, data: JSON.stringify(event) });
}
