// What happened in a session as entries of the live view: lines of text, tool calls with their results, news. Pure.
import type { OfficeEvent } from '../../client/office-stream.ts';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { EventType } from '../../domain/journal-event.ts';
import type { PayloadWire } from '../../wire/event-payloads.ts';
import { describeCall } from '../state/activity.ts';
import { short } from '../text/figures.ts';
import type { Role } from '../text/line.ts';

/** `key` rises from entry to entry. */
export type Entry =
  /** Where a run begins: what its user asked stands there. */
  | { readonly key: number; readonly kind: 'asked'; readonly runId: string }
  | { readonly key: number; readonly kind: 'text'; readonly text: string }
  | { readonly key: number; readonly kind: 'news'; readonly glyph: string; readonly role: Role; readonly text: string }
  | {
      readonly key: number;
      readonly kind: 'tool';
      readonly id: string;
      readonly text: string;
      /** Null while it works. */
      readonly result: { readonly ok: boolean; readonly output: string; readonly durationMs: number } | null;
    };

/** Entries that are kept; the oldest give way. */
export const MAX_ENTRIES = 5000;
/** A longer line of text goes on in another entry. */
const MAX_CHARACTERS = 2000;
/** Room for the entries of one event, between its key and the next one's. */
const KEYS_AN_EVENT = 4096;

interface Told {
  readonly entries: Entry[];
  /** Places of calls that wait for their results, by tool use. */
  readonly calls: Map<string, number>;
  /** Whether the last entry is a line of text that goes on. */
  isOpen: boolean;
  /** Whether the step's text has come; else its preview stands for it. */
  hasText: boolean;
  /** The last run that failed or was stopped: it has said why it has no files. */
  brokenRun: string | null;
  /** Of the event that is told. */
  runId: string | null;
  key: number;
}

type Teller<P = OfficeEvent['payload']> = (told: Told, payload: P) => void;

const news =
  <P>(glyph: string, role: Role, say: (payload: P) => string): Teller<P> =>
  (told, payload) => {
    told.isOpen = false;
    add(told, { kind: 'news', glyph, role, text: say(payload) });
  };

const preview: Teller<{ readonly text_preview: string }> = (told, { text_preview: said }) => {
  if (!told.hasText && said !== '') {
    write(told, said);
    told.isOpen = false;
  }
  told.hasText = true;
};

/** A text, or texts by question. */
function answerOf(answers: JsonValue): string {
  const values = isJsonObject(answers) ? Object.values(answers) : [answers];
  const said = values.flat().flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value] : []));
  return said.length === 0 ? '' : `: ${said.join(' · ')}`;
}

const queued = news('○', 'pending', () => 'run queued');
const started = news('●', 'running', ({ model }: PayloadWire<'run.started'>) => `run started with ${model}`);
const stopped = news('-', 'idle', ({ reason }: PayloadWire<'run.stopped'>) => `run stopped: ${reason}`);
const failed = news('✗', 'failed', ({ message }: { readonly message: string }) => message);

const TELLERS: { readonly [T in EventType]?: Teller<PayloadWire<T>> } = {
  'run.queued': (told, payload) => {
    if (told.runId !== null) add(told, { kind: 'asked', runId: told.runId });
    queued(told, payload);
  },
  'run.started': (told, payload) => {
    told.hasText = false;
    started(told, payload);
  },
  'run.resumed': news('●', 'running', () => 'run resumed'),
  'run.compacted': news('·', 'dim', ({ characters }) => `summarised ${short(characters)} characters of the past`),
  'run.finalizing': news('·', 'dim', () => 'collects its files'),
  'run.done': news('✓', 'completed', () => 'run completed'),
  'run.failed': (told, { error }) => {
    told.brokenRun = told.runId;
    failed(told, error);
  },
  'run.stopped': (told, payload) => {
    told.brokenRun = told.runId;
    stopped(told, payload);
  },
  'run.step': preview,
  message: preview,
  content_block_start: (told) => {
    told.isOpen = false;
  },
  content_block_delta: (told, { delta }) => {
    write(told, delta.text);
    told.hasText = true;
  },
  content_block_stop: (told) => {
    told.isOpen = false;
  },
  tool_use: (told, { tool_use_id: id, name, input }) => {
    told.isOpen = false;
    told.hasText = false;
    told.calls.set(id, told.entries.length);
    add(told, { kind: 'tool', id, text: describeCall(name, input), result: null });
  },
  tool_result: (told, { tool_use_id: id, ok, output, duration_ms: duration }) => {
    const at = told.calls.get(id) ?? -1;
    const result = { ok, output, durationMs: duration };
    const call = told.entries[at];
    told.calls.delete(id);
    if (call?.kind === 'tool') told.entries[at] = { ...call, result };
    else add(told, { kind: 'tool', id, text: 'an earlier call', result });
  },
  'user_input.requested': news('?', 'waiting', () => 'waits for its user'),
  'user_input.answered': news('?', 'dim', ({ answers }) => `the user answered${answerOf(answers)}`),
  'user_input.expired': news('?', 'failed', () => 'the question expired without an answer'),
  'insight.status_changed': news('!', 'accent', ({ title, status }) => `insight ${status}: ${title}`),
  'artifacts.ready': news('·', 'dim', ({ file_count: count }) => `files ready: ${count}`),
  'artifacts.failed': (told, payload) => {
    if (payload.run_id !== told.brokenRun) failed(told, payload);
  },
  'workspace_export.failed': failed,
  'session.deleted': news('✗', 'failed', () => 'the session was deleted'),
};

export interface Entries {
  readonly list: readonly Entry[];
  /** The events they were made of, to continue from. */
  readonly of: readonly OfficeEvent[];
  readonly told: Told;
}

/** Entries of events in order. Continues from what was made before, where the events only grew. */
export function entriesOf(events: readonly OfficeEvent[], before: Entries | null = null): Entries {
  const known = before !== null && before.of.length > 0 && events[0] === before.of[0] ? before.of.length : 0;
  const isGrown = known > 0 && events[known - 1] === before?.of.at(-1);
  if (isGrown && known === events.length && before !== null) return before;
  const told: Told =
    isGrown && before !== null
      ? before.told
      : { entries: [], calls: new Map(), isOpen: false, hasText: true, brokenRun: null, runId: null, key: 0 };
  for (const event of isGrown ? events.slice(known) : events) {
    told.key = event.id * KEYS_AN_EVENT;
    told.runId = event.run_id;
    (TELLERS[event.type] as Teller | undefined)?.(told, event.payload);
  }
  return { list: told.entries.slice(-MAX_ENTRIES), of: events, told };
}

/** Text that came: the first line continues the last one, each further one is an entry. */
function write(told: Told, said: string): void {
  for (const [at, line] of said.split('\n').entries()) {
    if (at > 0) told.isOpen = false;
    for (let from = 0; from === 0 || from < line.length; from += MAX_CHARACTERS) {
      writeLine(told, line.slice(from, from + MAX_CHARACTERS));
    }
  }
}

function writeLine(told: Told, line: string): void {
  const last = told.entries.at(-1);
  const isSame = told.isOpen && last?.kind === 'text' && last.text.length + line.length <= MAX_CHARACTERS;
  // A line is known by the event of its first character: what begins a page is the same with the page before.
  if (isSame && last.text !== '') told.entries[told.entries.length - 1] = { ...last, text: last.text + line };
  else {
    if (isSame) told.entries.pop();
    add(told, { kind: 'text', text: line });
  }
  told.isOpen = true;
}

type Without<E> = E extends Entry ? Omit<E, 'key'> : never;

function add(told: Told, entry: Without<Entry>): void {
  told.entries.push({ ...entry, key: told.key });
  told.key += 1;
}
