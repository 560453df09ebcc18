// HTTP to model servers: one keep-alive agent per thread, no hidden time limits, bounded replies, and only streams.
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { TextDecoder as Decoder } from 'node:util';
import type { JsonValue } from '../../domain/json.ts';
import { HALTED, type Halt } from '../../domain/halt.ts';
import { makeConnector } from '../../outbound/ways/connector.ts';
import type { ByteReader } from './read-reply.ts';
import { faultOfEvent, faultOfStatus, UnreachedError, UpstreamFault } from './upstream-fault.ts';

/** Maximum characters of a failed reply that are read: more than is shown, so that no secret at the end of that is in pieces. */
const MAX_FAULT_CHARACTERS = 16_384;
/** How long a server may keep its connection open after the end of its reply. */
const LINGER_MS = 1_000;
/** How long the end of a reply that has all of its content is waited for, if its server sends none and keeps the connection open. */
const SETTLE_MS = 2_000;

const agents = new Map<string, Agent>();

/** Where calls of a model go, and what they have in common. */
export interface Target {
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** A PEM file with issuers that are trusted for it in addition. */
  readonly caFile: string | null;
}

/** A call as it is sent. `body`: JSON. */
export interface PostedCall {
  readonly target: Target;
  readonly body: Buffer;
  readonly halt: Halt;
}

/**
 * Sends a call, and gives `reader` the bytes of its stream until the reply is complete. Only connecting has a time limit here;
 * the caller limits how long tokens may take (D8). Redirects are not followed; only the start of a failed reply is read.
 * `waits` is called when the request was sent, and when bytes are processed. Rejects with UpstreamFault for any reply that is
 * no complete stream, and with UnreachedError when there is no reply at all.
 */
export function streamReply(
  { target, body, halt }: PostedCall,
  reader: ByteReader,
  waits: (isWaiting: boolean) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown) => {
      halt.leave(stop);
      if (error === null) resolve();
      else reject(error);
    };
    const reply = new StreamedReply(reader, waits, settle);
    const stop = () => reply.stop();
    const { origin, path, headers } = target;
    halt.listen(stop);
    agentFor(target).dispatch({ origin, path, method: 'POST', headers, body }, reply);
    waits(true);
  });
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Controller = Dispatcher.DispatchController;

/**
 * One reply. Each chunk is read as it arrives, without a stream, a promise or a buffer in between: a thread has many calls in
 * progress, so this is one object.
 */
class StreamedReply implements Dispatcher.DispatchHandler {
  readonly #reader: ByteReader;
  readonly #waits: (isWaiting: boolean) => void;
  /** Called once, with null for a complete reply. */
  readonly #settle: (error: unknown) => void;
  #controller: Controller | undefined;
  /** The start of a reply that is no stream; undefined for a stream. */
  #document: Document | undefined;
  #hasStarted = false;
  #isSettled = false;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(reader: ByteReader, waits: (isWaiting: boolean) => void, settle: (error: unknown) => void) {
    this.#reader = reader;
    this.#waits = waits;
    this.#settle = settle;
  }

  /** Ends the call at once. It is sent once there is a connection. */
  stop(): void {
    // The model fell silent because nothing is missing.
    if (this.#hasStarted && this.#document === undefined && this.#reader.isWhole()) this.#end();
    this.#finish(this.#controller === undefined ? new UnreachedError(HALTED) : HALTED);
    this.#controller?.abort(HALTED);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(HALTED);
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    // Interim responses come before the real one.
    if (status < 200) return;
    this.#hasStarted = true;
    const type = String(headers['content-type'] ?? '');
    if (isStream(status, type)) return;
    const retryAfter = headers['retry-after']?.toString();
    this.#document = { status, type, retryAfter, decoder: new TextDecoder(), text: '' };
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#isSettled) return;
    if (this.#document === undefined) return this.#read(chunk);
    this.#document.text += this.#document.decoder.decode(chunk, { stream: true });
    if (this.#document.text.length >= MAX_FAULT_CHARACTERS) this.#cut(faultOf(this.#document));
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    if (this.#isSettled) clearTimeout(this.#timer);
    else if (this.#document === undefined) this.#end();
    else this.#finish(faultOf(this.#document));
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    this.#hasEnded = true;
    // With the whole reply, how its server closes the connection doesn't matter.
    if (!this.#isSettled && this.#reader.isWhole()) this.#end();
    else this.#finish(this.#hasStarted ? error : new UnreachedError(error));
    clearTimeout(this.#timer);
  }

  #read(chunk: Buffer): void {
    this.#waits(false);
    try {
      if (this.#reader.take(chunk)) this.#complete();
      else this.#settleSoon(this.#reader.hasAllContent());
    } catch (error) {
      this.#cut(error);
    }
  }

  /** After a complete reply the connection is reused, once its last bytes have arrived: mostly they are here already. */
  #complete(): void {
    this.#finish(null);
    queueMicrotask(() => {
      if (!this.#hasEnded) this.#timer = setTimeout(() => this.#controller?.abort(HALTED), LINGER_MS).unref();
    });
  }

  #settleSoon(hasAllContent: boolean): void {
    if (hasAllContent) {
      this.#timer ??= setTimeout(() => {
        this.#end();
        this.#controller?.abort(HALTED);
      }, SETTLE_MS);
    } else if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
  }

  /** No bytes follow. */
  #end(): void {
    try {
      this.#reader.end();
      this.#finish(null);
    } catch (error) {
      this.#finish(error);
    }
  }

  /** What follows is not read, and the connection is not reused. */
  #cut(error: unknown): void {
    this.#finish(error);
    this.#controller?.abort(HALTED);
  }

  #finish(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#settle(error);
  }
}

/** A reply that is no stream, as far as it was read. */
interface Document {
  readonly status: number;
  readonly type: string;
  readonly retryAfter: string | undefined;
  readonly decoder: Decoder;
  text: string;
}

const isGood = (status: number) => status >= 200 && status < 300;
const isStream = (status: number, type: string) => isGood(status) && !/^(?:text\/html|application\/json)\b/i.test(type);

/** Why a reply is no stream. */
function faultOf({ status, type, retryAfter, text }: Document): UpstreamFault {
  const start = text.slice(0, MAX_FAULT_CHARACTERS);
  const isCut = text.length >= MAX_FAULT_CHARACTERS;
  if (!isGood(status)) return faultOfStatus(status, start, { retryAfter, isCut });
  return faultOfEvent(parse(start)) ?? new UpstreamFault('document', `${type}: ${start}`, { status, isCut });
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

function agentFor({ connectTimeoutMs, caFile }: Pick<Target, 'connectTimeoutMs' | 'caFile'>): Agent {
  const name = `${connectTimeoutMs} ${caFile ?? ''}`;
  const known = agents.get(name);
  if (known !== undefined) return known;
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: makeConnector({ build: buildConnector, timeoutMs: connectTimeoutMs, caFile }),
    // Over HTTP/2, all calls of a thread wait for one connection, and break off with it.
    allowH2: false,
    keepAliveTimeout: 30_000,
  });
  agents.set(name, agent);
  return agent;
}
