// Streams a run to a client in the protocol that started it: from any event on, with pings in silence.
import type { Clock, Timer } from '../../../domain/clock.ts';
import type { JournalEvent } from '../../../domain/sessions/journal-event.ts';
import type { Protocol, Run } from '../../../domain/sessions/run.ts';
import type { Settings } from '../../../domain/settings.ts';
import type { Tail, Tails } from '../../../events/tail.ts';
import type { WatchCredential } from '../../frame/credential-watch.ts';
import type { Exchange } from '../../frame/exchange.ts';
import { type ErrorFacts, factsOf } from '../../replies/render-error.ts';
import { type EventStream, openEventStream } from '../../replies/sse.ts';
import { CHAT_FORMAT } from './chat-events-wire.ts';
import { JOURNAL_FORMAT } from './journal-events-wire.ts';
import { MESSAGES_FORMAT } from './messages-events-wire.ts';
import { RESPONSES_FORMAT } from './responses-events-wire.ts';
import { RESTARTING } from '../run-failure.ts';
import {
  type EventRenderer,
  frameOf,
  makeEventRenderer,
  type Retelling,
  type SentEvent,
  type StreamFormat,
} from './stream-format.ts';

/** How a client wants a run's stream. */
interface StreamRequest {
  /** Journal id of the last event the client has; 0 from the first. */
  readonly afterId: number;
  /** The number of the last event, where the format numbers them; absent: none. */
  readonly afterNumber?: number | undefined;
  /** `id:` lines, in a format that doesn't always have them (C12). */
  readonly ids: boolean;
  /** What tools do, in a format that has it on request. */
  readonly tools: boolean;
  /** Sends the journal's events as they are, instead of in the run's protocol. */
  readonly format?: 'journal';
}

export interface StreamParts {
  readonly tail: Tails;
  readonly clock: Clock;
  readonly settings: () => Settings;
  /** Aborts when open streams must end. */
  readonly draining: AbortSignal;
  readonly watchCredential: WatchCredential;
}

/** Opens a run's stream on a request's response. Returns at once; the stream lives on its own until the run or the client ends. */
export type OpenRunStream = (exchange: Pick<Exchange, 'res' | 'admit'>, run: Run, request: StreamRequest) => void;

const FORMATS = {
  messages: MESSAGES_FORMAT,
  chat: CHAT_FORMAT,
  responses: RESPONSES_FORMAT,
  journal: JOURNAL_FORMAT,
} as const satisfies Record<Protocol | 'journal', StreamFormat>;
type FormatName = keyof typeof FORMATS;

/** A format with the renderers that all streams in it share. */
interface Rendering {
  readonly format: StreamFormat;
  readonly plain: EventRenderer;
  readonly withIds: EventRenderer;
}

const STALL_LIMIT_MS = 60_000;
const COMMENT_PING = Buffer.from(': ping\n\n');

function renderingOf(format: StreamFormat): Rendering {
  const withIds = makeEventRenderer(format, true);
  return { format, withIds, plain: format.ids === 'always' ? withIds : makeEventRenderer(format, false) };
}

/** Makes the function that opens streams. All of them end when `draining` fires. */
export function makeRunStreams({ tail, clock, settings, draining, watchCredential }: StreamParts): OpenRunStream {
  const renderings: Readonly<Record<FormatName, Rendering>> = {
    messages: renderingOf(FORMATS.messages),
    chat: renderingOf(FORMATS.chat),
    responses: renderingOf(FORMATS.responses),
    journal: renderingOf(FORMATS.journal),
  };
  const open = new Set<RunStream>();
  draining.addEventListener('abort', () => open.forEach((stream) => stream.interrupt(RESTARTING)), { once: true });
  return ({ res, admit }, run, request) => {
    // The client may have left while its turn was accepted.
    if (res.destroyed) return;
    const stream = new RunStream({ tail, clock, settings }, openEventStream(res), {
      run,
      request,
      rendering: renderings[request.format ?? run.protocol],
    });
    open.add(stream);
    const unwatch = watchCredential(admit, (error) => stream.interrupt(factsOf(error)));
    res.once('close', () => {
      unwatch();
      open.delete(stream);
      stream.stop();
    });
    if (draining.aborted) stream.interrupt(RESTARTING);
    else stream.start();
  };
}

const rendererOf = ({ withIds, plain }: Rendering, sendsIds: boolean): EventRenderer => (sendsIds ? withIds : plain);

function retellingOf(run: Run, { retell }: StreamFormat, { afterId, afterNumber = -1 }: StreamRequest) {
  return retell?.(run, { afterId, afterNumber }) ?? null;
}

type Following = Pick<StreamParts, 'tail' | 'clock' | 'settings'>;

/** One client's stream of one run. */
class RunStream {
  readonly #parts: Following;
  readonly #stream: EventStream;
  readonly #run: Run;
  readonly #request: StreamRequest;
  readonly #format: StreamFormat;
  readonly #render: EventRenderer;
  readonly #retelling: Retelling | null;
  readonly #sendsIds: boolean;
  #tail: Tail | undefined;
  #timer: Timer | undefined;
  #stopped = false;
  #lastId: number;
  #lastSentAt: number;
  #pausedAt: number | null = null;
  #delivered = false;

  constructor(parts: Following, stream: EventStream, what: { run: Run; request: StreamRequest; rendering: Rendering }) {
    this.#parts = parts;
    this.#stream = stream;
    this.#run = what.run;
    this.#request = what.request;
    this.#format = what.rendering.format;
    this.#sendsIds = what.request.ids || this.#format.ids === 'always';
    this.#retelling = retellingOf(what.run, this.#format, what.request);
    this.#render = this.#retelling === null ? rendererOf(what.rendering, this.#sendsIds) : this.#retell;
    this.#lastId = what.request.afterId;
    this.#lastSentAt = parts.clock.monotonic();
  }

  start(): void {
    const afterId = this.#retelling === null ? this.#request.afterId : 0;
    this.#tail = this.#parts.tail.follow(this.#run, afterId, {
      events: (events) => this.#deliver(events),
      live: () => this.#stream.flush(),
      end: () => this.#finish(this.#epilogue()),
      failed: (error) => this.interrupt(factsOf(error)),
    });
    this.#watch(this.#pingMs());
  }

  /** Ends the stream with an error, though the run continues. */
  interrupt(why: ErrorFacts): void {
    this.#finish((this.#retelling ?? this.#format).error(why));
  }

  /** Closes the tail and the timer. The run doesn't notice (C7). */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#tail?.close();
  }

  #deliver(events: readonly JournalEvent[]): Promise<void> | undefined {
    if (this.#stopped) return undefined;
    this.#delivered = true;
    const hidden = this.#request.tools ? null : this.#format.toolEvents;
    const frames: Buffer[] = [];
    for (const event of events) {
      const frame = hidden?.has(event.type) === true ? null : this.#render(event, this.#run);
      if (frame !== null) frames.push(frame);
    }
    const last = events.at(-1);
    if (last !== undefined) this.#lastId = last.id;
    return frames.length === 0 ? undefined : this.#send(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }

  readonly #retell: EventRenderer = (event) => {
    const told = this.#retelling!.event(event);
    if (told.length === 0) return null;
    const last = told.length - 1;
    return Buffer.concat(told.map((one, at) => frameOf(one, this.#sendsIds && at === last ? event.id : null)));
  };

  /** No event of an ended run means that the client has them all. */
  #epilogue(): SentEvent | null {
    if (this.#retelling !== null) return this.#retelling.epilogue();
    return this.#delivered ? null : this.#format.epilogue(this.#run);
  }

  #send(frames: Buffer): Promise<void> | undefined {
    this.#lastSentAt = this.#parts.clock.monotonic();
    const pause = this.#stream.send(frames);
    if (pause === undefined) return undefined;
    this.#pausedAt = this.#lastSentAt;
    return pause.then(() => {
      this.#pausedAt = null;
    });
  }

  #finish(last: SentEvent | null = null): void {
    if (this.#stopped) return;
    this.stop();
    this.#stream.end(last === null ? undefined : frameOf(last, this.#sendsIds ? this.#lastId : null));
  }

  /** One timer, set to the earliest moment at which a ping can be due: writing an event costs no timer. */
  #watch(delayMs: number): void {
    this.#timer = this.#parts.clock.after(delayMs, () => {
      const now = this.#parts.clock.monotonic();
      if (this.#pausedAt !== null && now - this.#pausedAt >= STALL_LIMIT_MS) return this.#stream.drop();
      const silentMs = now - this.#lastSentAt;
      const due = silentMs >= this.#pingMs();
      if (due && this.#pausedAt === null) void this.#send(this.#ping());
      this.#watch(due ? this.#pingMs() : this.#pingMs() - silentMs);
    });
  }

  #pingMs(): number {
    return this.#parts.settings().streams.pingSeconds * 1000;
  }

  #ping(): Buffer {
    const { ping } = this.#format;
    return ping === 'comment' ? COMMENT_PING : frameOf(ping, this.#lastId);
  }
}
