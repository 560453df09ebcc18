// What happened in a session as entries of the live view: lines of text, tool calls with their results, news. Pure.
import type { OfficeEvent } from '../../client/office-stream.ts';
import { compact, spokenMs } from '../../domain/figures.ts';
import type { EventType } from '../../domain/sessions/journal-event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import type { PayloadWire } from '../../wire/event-payloads.ts';
import { describeCall } from '../state/activity.ts';
import type { Role } from '../text/line.ts';

/** `key` rises from entry to entry. */
export type Entry =
  /** Where a run begins: what its user asked stands there. */
  | { readonly key: number; readonly kind: 'asked'; readonly runId: string }
  /** A line; `isCode`: between two fences; `continues`: goes on with the line of the entry before, which was too long for one. */
  | {
      readonly key: number;
      readonly kind: 'text';
      readonly text: string;
      readonly isCode: boolean;
      readonly continues?: true;
    }
  | { readonly key: number; readonly kind: 'news'; readonly glyph: string; readonly role: Role; readonly text: string }
  | {
      readonly key: number;
      readonly kind: 'tool';
      readonly id: string;
      readonly text: string;
      readonly name: string;
      /** Null of a call whose beginning is not in memory. `isCut`: only its beginning. */
      readonly input: { readonly value: JsonObject; readonly isCut: boolean } | null;
      /** Null while it works. */
      readonly result: {
        readonly ok: boolean;
        readonly output: string;
        readonly isCut: boolean;
        readonly durationMs: number;
      } | null;
    };

/** Entries that are kept; the oldest give way. */
export const MAX_ENTRIES = 5000;
/** A longer line of text continues in another entry. */
const MAX_CHARACTERS = 2000;
/** Room for the entries of one event, between its key and the next one's. */
const KEYS_AN_EVENT = 4096;

interface Builder {
  readonly entries: Entry[];
  /** Places of calls that wait for their results, by tool use. */
  readonly calls: Map<string, number>;
  /** Whether the last entry is a line of text that continues. */
  isOpen: boolean;
  /** Whether the text is between two fences. */
  isCode: boolean;
  /** Whether the step's text has come; else its preview stands for it. */
  hasText: boolean;
  /** The last run that failed or was stopped: its error explains why it has no files. */
  brokenRun: string | null;
  /** Of the current event. */
  runId: string | null;
  key: number;
}

type Handler<P = OfficeEvent['payload']> = (builder: Builder, payload: P) => void;

const news =
  <P>(glyph: string, role: Role, textOf: (payload: P) => string): Handler<P> =>
  (builder, payload) => {
    builder.isOpen = false;
    add(builder, { kind: 'news', glyph, role, text: textOf(payload) });
  };

const preview: Handler<{ readonly text_preview: string }> = (builder, { text_preview: text }) => {
  if (!builder.hasText && text !== '') {
    write(builder, text);
    builder.isOpen = false;
  }
  builder.hasText = true;
};

/** A text, or texts by question. */
function answerOf(answers: JsonValue): string {
  const values = isJsonObject(answers) ? Object.values(answers) : [answers];
  const texts = values.flat().flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value] : []));
  return texts.length === 0 ? '' : `: ${texts.join(' · ')}`;
}

const queued = news('○', 'pending', () => 'run queued');
const started = news('●', 'running', ({ model }: PayloadWire<'run.started'>) => `run started with ${model}`);
const stopped = news('-', 'idle', ({ reason }: PayloadWire<'run.stopped'>) => `run stopped: ${reason}`);
const failed = news('✗', 'failed', ({ message }: { readonly message: string }) => message);

const HANDLERS: { readonly [T in EventType]?: Handler<PayloadWire<T>> } = {
  'run.queued': (builder, payload) => {
    if (builder.runId !== null) add(builder, { kind: 'asked', runId: builder.runId });
    queued(builder, payload);
  },
  'run.started': (builder, payload) => {
    builder.hasText = false;
    started(builder, payload);
  },
  'run.resumed': news('●', 'running', () => 'run resumed'),
  'run.compacted': news('·', 'dim', ({ characters }) => `summarised ${compact(characters)} characters of the past`),
  'model_wait.started': news(
    '!',
    'waiting',
    ({ message, patience_ms: patience }) => `${message} Asks again for up to ${spokenMs(patience)}.`,
  ),
  'model_wait.ended': news('·', 'dim', ({ model, answered, waited_ms: waited }) =>
    answered ? `${model} replies after ${spokenMs(waited)}` : `${model} was given up after ${spokenMs(waited)}`,
  ),
  'run.finalizing': news('·', 'dim', () => 'collects its files'),
  'run.done': news('✓', 'completed', () => 'run completed'),
  'run.failed': (builder, { error }) => {
    builder.brokenRun = builder.runId;
    failed(builder, error);
  },
  'run.stopped': (builder, payload) => {
    builder.brokenRun = builder.runId;
    stopped(builder, payload);
  },
  'run.step': preview,
  message: preview,
  content_block_start: (builder) => {
    builder.isOpen = false;
  },
  content_block_delta: (builder, { delta }) => {
    write(builder, delta.text);
    builder.hasText = true;
  },
  content_block_stop: (builder) => {
    builder.isOpen = false;
  },
  tool_use: (builder, { tool_use_id: id, name, input: value, truncated: isCut = false }) => {
    builder.isOpen = false;
    builder.isCode = false;
    builder.hasText = false;
    builder.calls.set(id, builder.entries.length);
    const input = { value, isCut };
    add(builder, { kind: 'tool', id, text: describeCall(name, input.value), name, input, result: null });
  },
  tool_result: (builder, { tool_use_id: id, ok, output, truncated: isCut = false, duration_ms: duration }) => {
    const at = builder.calls.get(id) ?? -1;
    const result = { ok, output, isCut, durationMs: duration };
    const call = builder.entries[at];
    builder.calls.delete(id);
    if (call?.kind === 'tool') builder.entries[at] = { ...call, result };
    else add(builder, { kind: 'tool', id, text: 'an earlier call', name: '', input: null, result });
  },
  'user_input.requested': news('?', 'waiting', () => 'waits for its user'),
  'user_input.answered': news('?', 'dim', ({ answers }) => `the user answered${answerOf(answers)}`),
  'user_input.expired': news('?', 'failed', () => 'the question expired without an answer'),
  'insight.status_changed': news('!', 'accent', ({ title, status }) => `insight ${status}: ${title}`),
  'artifacts.ready': news('·', 'dim', ({ file_count: count }) => `files ready: ${count}`),
  'artifacts.failed': (builder, payload) => {
    if (payload.run_id !== builder.brokenRun) failed(builder, payload);
  },
  'workspace_export.failed': failed,
  'publish_page.published': news(
    '·',
    'accent',
    ({ publish_page: { name }, version }) => `published: ${name}, version ${version.version_no}`,
  ),
  'publish_page.failed': news(
    '✗',
    'failed',
    ({ publish_page: { name }, job }) => `not published: ${name}: ${job.last_error}`,
  ),
  'session.deleted': news('✗', 'failed', () => 'the session was deleted'),
};

export interface Entries {
  readonly list: readonly Entry[];
  /** The events they were made of, to continue from. */
  readonly of: readonly OfficeEvent[];
  readonly builder: Builder;
}

/** Entries of events in order. Continues from what was made before, where the events only grew. */
export function entriesOf(events: readonly OfficeEvent[], before: Entries | null = null): Entries {
  const known = before !== null && before.of.length > 0 && events[0] === before.of[0] ? before.of.length : 0;
  const isGrown = known > 0 && events[known - 1] === before?.of.at(-1);
  if (isGrown && known === events.length && before !== null) return before;
  const builder: Builder =
    isGrown && before !== null
      ? before.builder
      : {
          entries: [],
          calls: new Map(),
          isOpen: false,
          isCode: beginsInCode(events),
          hasText: true,
          brokenRun: null,
          runId: null,
          key: 0,
        };
  for (const event of isGrown ? events.slice(known) : events) {
    builder.key = event.id * KEYS_AN_EVENT;
    builder.runId = event.run_id;
    (HANDLERS[event.type as EventType] as Handler | undefined)?.(builder, event.payload);
  }
  return { list: builder.entries.slice(-MAX_ENTRIES), of: events, builder };
}

/** Text that came: the first line continues the last one, each further one is an entry. */
function write(builder: Builder, text: string): void {
  for (const [at, line] of text.split('\n').entries()) {
    if (at > 0) builder.isOpen = false;
    for (let from = 0; from === 0 || from < line.length; from += MAX_CHARACTERS) {
      writeLine(builder, line.slice(from, from + MAX_CHARACTERS));
    }
  }
}

function writeLine(builder: Builder, line: string): void {
  const last = builder.entries.at(-1);
  const isOpen = builder.isOpen && last?.kind === 'text';
  const isSame = isOpen && last.text.length + line.length <= MAX_CHARACTERS;
  // A line is known by the event of its first character: what begins a page is the same with the page before.
  if (isSame && last.text !== '') builder.entries[builder.entries.length - 1] = { ...last, text: last.text + line };
  else {
    if (isSame) builder.entries.pop();
    else if (last?.kind === 'text' && isFence(last.text)) builder.isCode = !builder.isCode;
    add(builder, { kind: 'text', text: line, isCode: builder.isCode, ...(isOpen && !isSame && { continues: true }) });
  }
  builder.isOpen = true;
}

/** Whether a line begins or ends what is code in Markdown. */
export const isFence = (line: string): boolean => /^\s*(?:```|~~~)/.test(line);

/**
 * Whether events that begin in the middle of a text begin in its code: what is left of it has a fence without another one, and the
 * first names no language, so that it ends something. Of a text that goes on, nobody knows yet.
 */
function beginsInCode(events: readonly OfficeEvent[]): boolean {
  const end = events.findIndex(({ type }) => ENDS_TEXT.has(type));
  if (events[end]?.type !== 'content_block_stop') return false;
  const deltas = events.slice(0, end).filter(({ type }) => type === 'content_block_delta');
  const text = deltas.map(({ payload }) => (payload as PayloadWire<'content_block_delta'>).delta.text).join('');
  const fences = text.split('\n').filter(isFence);
  return fences.length % 2 === 1 && /^\s*[`~]+\s*$/.test(fences[0]!);
}

const ENDS_TEXT: ReadonlySet<string> = new Set([
  'content_block_start',
  'content_block_stop',
  'tool_use',
  'run.started',
]);

type Without<E> = E extends Entry ? Omit<E, 'key'> : never;

function add(builder: Builder, entry: Without<Entry>): void {
  builder.entries.push({ ...entry, key: builder.key });
  builder.key += 1;
}
