// The clients of a self-test: each sends a piece of work until it is answered, with the same idempotency key.
import { setTimeout as sleep } from 'node:timers/promises';
import { wordsOf } from './scripted-model.ts';

/** A piece of work as its client saw it. */
export interface Piece {
  readonly number: number;
  /** The runs that replies named: more than one is a broken promise. */
  readonly runs: Set<string>;
  /** The answer, once it was replied; null until then. */
  answer: string | null;
  /** The last status that was replied. */
  status: string;
  /** A reply that no client should get. */
  refusal: string | null;
}

export interface Load {
  readonly pieces: readonly Piece[];
  /** Sends no new pieces, and waits until those that were sent have ended; false when time runs out. */
  finish(withinMs: number): Promise<boolean>;
  /** Ends the clients at once. */
  close(): Promise<void>;
}

const CLIENTS = 6;
/** So that disk and time are bounded on any machine. */
const MAX_PIECES = 600;
const PAUSE_MS = 50;
const ENDED = new Set(['completed', 'failed', 'canceled', 'incomplete']);

/** Starts the clients. When `signal` is aborted, they end, and `finish` throws its reason. */
export function startLoad(target: Target): Load {
  const { signal } = target;
  const pieces: Piece[] = [];
  const over = new AbortController();
  const any = AbortSignal.any([over.signal, signal]);
  let isClosed = false;
  const client = async () => {
    while (!isClosed && !any.aborted && pieces.length < MAX_PIECES) {
      const piece: Piece = { number: pieces.length + 1, runs: new Set(), answer: null, status: '', refusal: null };
      pieces.push(piece);
      while (!ENDED.has(piece.status) && piece.refusal === null && !any.aborted) {
        await send({ ...target, signal: any }, piece).catch(() => undefined);
        await sleep(PAUSE_MS);
      }
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    pieces,
    finish: async (withinMs) => {
      isClosed = true;
      const late = sleep(withinMs, false, { signal: any, ref: false });
      const isDone = await Promise.race([clients.then(() => true), late.catch(() => false)]);
      signal.throwIfAborted();
      return isDone;
    },
    close: async () => {
      isClosed = true;
      over.abort();
      await clients;
    },
  };
}

interface Target {
  readonly url: string;
  readonly apiKey: string;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly background_results?: {
    readonly run_id: string;
    readonly status: string;
  };
}

/** One request. A connection that breaks, and a place that is missing, mean that it is sent again. */
async function send({ url, apiKey, signal }: Target, piece: Piece): Promise<void> {
  const response = await fetch(`${url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'any',
      background: true,
      idempotency_key: `piece-${piece.number}`,
      messages: [{ role: 'user', content: wordsOf(piece.number) }],
    }),
    signal,
  });
  const text = await response.text();
  if (response.status === 429 || response.status === 503) return;
  if (response.status !== 202 && response.status !== 200) {
    piece.refusal = `${response.status}: ${text.slice(0, 200)}`;
    return;
  }
  const { content = [], background_results: results } = JSON.parse(text) as Answer;
  if (results === undefined) return;
  piece.runs.add(results.run_id);
  piece.status = results.status;
  if (results.status === 'completed') piece.answer = content.map((block) => block.text ?? '').join('');
}
