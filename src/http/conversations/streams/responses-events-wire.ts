// A run's journal as the Responses protocol's stream (M3): each event in the order of the official one, numbered from 0.
import type { EventPayloads, EventType, JournalEvent } from '../../../domain/sessions/journal-event.ts';
import { messageIdOf } from '../../../domain/ids.ts';
import type { ResultTool, Run } from '../../../domain/sessions/run.ts';
import { NO_USAGE } from '../../../domain/sessions/usage.ts';
import type { ResponsesStreamEvent } from '../../../wire/responses/stream-event.ts';
import type { ErrorFacts } from '../../replies/render-error.ts';
import { callOf, messageOf, outputTextOf, renderResponse } from '../responses-wire.ts';
import type { Position, Retelling, SentEvent, StreamFormat } from './stream-format.ts';

export const RESPONSES_FORMAT: StreamFormat = {
  event: () => null,
  toolEvents: new Set(),
  ids: 'on request',
  ping: 'comment',
  error: (facts) => sent(errorOf(facts, 0)),
  epilogue: () => null,
  retell: (run, from) => new ResponseStream(run, from),
};

type Unnumbered = ResponsesStreamEvent extends infer E
  ? E extends unknown
    ? Omit<E, 'sequence_number'>
    : never
  : never;

/** The item of the output that a text block is. */
interface Item {
  readonly id: string;
  readonly index: number;
  text: string;
}

type Teller<T extends EventType> = (payload: EventPayloads[T], at: number) => Unnumbered[];

/** One reader's stream. An event's number is how many the journal has made before it: every reader counts the same. */
class ResponseStream implements Retelling {
  /** As far as the journal has been read. */
  #run: Run;
  #item: Item | null = null;
  #items = 0;
  /** The answer, as far as it is known: the last text that the agent's last step has said. */
  #answer = '';
  #isBegun = false;
  #next = 0;
  readonly #from: Position;
  #last = { id: 0, number: -1 };
  #hasSent = false;

  constructor(run: Run, from: Position) {
    this.#from = from;
    this.#run = {
      ...run,
      status: run.scheduleMode === 'immediate' ? 'running' : 'queued',
      usage: NO_USAGE,
      stopReason: null,
      error: null,
      answer: null,
      structuredOutput: null,
      finishedAt: null,
    };
  }

  event({ id, type, payload, createdAt }: JournalEvent): SentEvent[] {
    const tell = this.#tellers[type] as Teller<EventType> | undefined;
    const events = tell?.(payload, createdAt) ?? [];
    const { afterId, afterNumber } = this.#from;
    const told: SentEvent[] = [];
    for (const event of events) {
      const numbered = { ...event, sequence_number: this.#next } as ResponsesStreamEvent;
      if (id > afterId && this.#next > afterNumber) told.push(sent(numbered));
      this.#last = { id, number: this.#next };
      this.#next += 1;
    }
    this.#hasSent ||= told.length > 0;
    return told;
  }

  /** It has no number of its own: a reader goes on behind the last event that it has. */
  error(facts: ErrorFacts): SentEvent {
    return sent(errorOf(facts, Math.max(0, this.#last.number, this.#from.afterNumber)));
  }

  epilogue(): SentEvent | null {
    const { afterId, afterNumber } = this.#from;
    if (this.#hasSent || (afterId <= this.#last.id && afterNumber <= this.#last.number)) return null;
    const message = `The stream has no event after that: its last has the number ${this.#last.number}.`;
    return this.error({ status: 404, type: 'not_found_error', message });
  }

  readonly #tellers: { readonly [T in EventType]?: Teller<T> } = {
    'run.queued': () => {
      const created = this.#snapshot('response.created');
      return this.#run.status === 'queued' ? [created, this.#snapshot('response.queued')] : [created];
    },
    'run.started': () => this.#begin(),
    content_block_start: () => (this.#run.wantsStructured ? [] : this.#openItem()),
    content_block_delta: ({ text }) => (this.#item === null ? [] : [this.#say(this.#item, text)]),
    content_block_stop: () => (this.#item === null ? [] : this.#closeItem(this.#item)),
    'run.step': ({ textPreview }) => {
      if (textPreview === '') this.#answer = '';
      return [];
    },
    'run.result': ({ structuredOutput }) => {
      this.#run = { ...this.#run, structuredOutput: { value: structuredOutput } };
      const result = JSON.stringify(structuredOutput);
      if (this.#run.resultTool !== null) return [...this.#begin(), ...this.#call(this.#run.resultTool, result)];
      const opened = this.#openItem();
      const item = this.#item!;
      return [...opened, this.#say(item, result), ...this.#closeItem(item)];
    },
    'run.finalizing': ({ stopReason, usage }) => {
      this.#run = { ...this.#run, stopReason, usage };
      return [];
    },
    message: ({ usage }) => {
      this.#run = { ...this.#run, usage };
      return [];
    },
    'run.done': (_payload, finishedAt) => {
      this.#run = { ...this.#run, status: 'completed', answer: this.#answer, finishedAt };
      const isCut = this.#run.stopReason === 'max_tokens';
      return [...this.#begin(), this.#snapshot(isCut ? 'response.incomplete' : 'response.completed')];
    },
    'run.failed': ({ status, error }, finishedAt) => {
      this.#run = { ...this.#run, status, error, finishedAt };
      return [this.#snapshot('response.failed')];
    },
    // The official stream has no event of its own for it: the response says that it is cancelled.
    'run.stopped': (_payload, finishedAt) => {
      this.#run = { ...this.#run, status: 'canceled', finishedAt };
      return [this.#snapshot('response.failed')];
    },
  };

  /** Once: a run that is resumed, or whose journal was removed, says it otherwise. */
  #begin(): Unnumbered[] {
    if (this.#isBegun) return [];
    this.#isBegun = true;
    if (this.#run.finishedAt === null) this.#run = { ...this.#run, status: 'running' };
    return this.#run.finishedAt === null ? [this.#snapshot('response.in_progress')] : [];
  }

  #snapshot(type: 'response.created' | 'response.queued' | 'response.in_progress' | Ending): Unnumbered {
    return { type, response: renderResponse(this.#run, this.#messageId(Math.max(0, this.#items - 1))) };
  }

  /** The first has the id of the answer, as it is most often the only one. */
  #messageId(index: number): string {
    const id = messageIdOf(this.#run.id);
    return index === 0 ? id : `${id}_${index}`;
  }

  #openItem(): Unnumbered[] {
    const begun = this.#begin();
    const index = this.#items;
    const item = { id: this.#messageId(index), index, text: '' };
    this.#item = item;
    this.#items += 1;
    this.#answer = '';
    return [
      ...begun,
      { type: 'response.output_item.added', output_index: index, item: messageOf(item.id, null, 'in_progress') },
      { type: 'response.content_part.added', ...placeOf(item), part: outputTextOf('') },
    ];
  }

  /** The one item of a run that answers with a call. */
  #call(tool: ResultTool, input: string): Unnumbered[] {
    const { id, ...call } = callOf(this.#run, tool, input, 'completed');
    const place = { item_id: id, output_index: 0 };
    const begun = { id, ...call, arguments: '', status: 'in_progress' as const };
    return [
      { type: 'response.output_item.added', output_index: 0, item: begun },
      { type: 'response.function_call_arguments.delta', ...place, delta: input },
      { type: 'response.function_call_arguments.done', ...place, arguments: input },
      { type: 'response.output_item.done', output_index: 0, item: { id, ...call } },
    ];
  }

  #say(item: Item, delta: string): Unnumbered {
    item.text += delta;
    return { type: 'response.output_text.delta', ...placeOf(item), delta, logprobs: [] };
  }

  #closeItem(item: Item): Unnumbered[] {
    const { id, index, text } = item;
    this.#item = null;
    this.#answer = text;
    return [
      { type: 'response.output_text.done', ...placeOf(item), text, logprobs: [] },
      { type: 'response.content_part.done', ...placeOf(item), part: outputTextOf(text) },
      { type: 'response.output_item.done', output_index: index, item: messageOf(id, text, 'completed') },
    ];
  }
}

type Ending = 'response.completed' | 'response.incomplete' | 'response.failed';

const placeOf = ({ id, index }: Item) => ({ item_id: id, output_index: index, content_index: 0 });

function errorOf({ type, message }: ErrorFacts, number: number): ResponsesStreamEvent {
  const code = type === 'rate_limit_error' ? 'rate_limit_exceeded' : type === 'api_error' ? 'server_error' : type;
  return { type: 'error', code, message, param: null, sequence_number: number };
}

const sent = (data: ResponsesStreamEvent): SentEvent => ({ name: data.type, data });
