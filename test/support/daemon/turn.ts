// One turn over plain HTTP in either protocol, with the same result type, for tests below the official clients.
import type { SseEvent } from '../http/sse.ts';
import { collectSse } from '../http/sse.ts';

export type TurnProtocol = 'messages' | 'chat';

/** Ways of asking: both protocols, with and without a stream. */
export const WAYS = (['messages', 'chat'] as const).flatMap((protocol) =>
  [false, true].map((stream) => ({ protocol, stream, name: `${protocol}${stream ? ' stream' : ''}` })),
);

/** The daemon, and the key to call it with. */
export interface TurnDoor {
  readonly url: string;
  readonly apiKey: string;
}

export interface TurnRequest {
  readonly protocol?: TurnProtocol;
  readonly stream?: boolean;
  /** The user message's text, or its blocks. */
  readonly content: string | readonly object[];
  readonly sessionId?: string | null;
  /** More fields of the body. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The reply. A stream that ends with an error has status 200 and an `error`. */
export interface TurnAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The answer's text: all text deltas of a stream. */
  readonly text: string;
  readonly error: { readonly type: string; readonly message: string } | null;
  /** Empty unless it was a stream. */
  readonly events: readonly SseEvent[];
  readonly sessionId: string | null;
  readonly runId: string | null;
}

const PATHS: Readonly<Record<TurnProtocol, string>> = {
  messages: '/openapi/v1/messages',
  chat: '/openapi/v1/chat/completions',
};

/** Sends a turn and answers the response as soon as its headers are there. */
export function openTurn({ url, apiKey }: TurnDoor, request: TurnRequest): Promise<Response> {
  const { protocol = 'messages', stream = false, content, sessionId = null } = request;
  const body = {
    model: 'any',
    stream,
    messages: [{ role: 'user', content }],
    ...(sessionId === null ? {} : { metadata: { session_id: sessionId } }),
    ...request.body,
  };
  return fetch(url + PATHS[protocol], {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...request.headers },
    body: JSON.stringify(body),
    signal: request.signal ?? null,
  });
}

/** Sends a turn and waits for the whole answer. */
export async function takeTurn(target: TurnDoor, request: TurnRequest): Promise<TurnAnswer> {
  return readTurn(await openTurn(target, request));
}

/** Reads a response of a turn, or of a rejoined stream, to its end. */
export async function readTurn(response: Response): Promise<TurnAnswer> {
  const { status, headers } = response;
  const common = { status, headers, sessionId: headers.get('x-session-id'), runId: headers.get('x-run-id') };
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true || response.body === null) {
    const body = JSON.parse(await response.text()) as JsonReply;
    return { ...common, text: textOfJson(body), error: body.error ?? null, events: [] };
  }
  const events = await collectSse(response.body);
  const data = events.flatMap((event) => dataOf(event));
  const error = data.find((item) => item.error !== undefined)?.error ?? null;
  return { ...common, text: data.map(textOfChunk).join(''), error, events };
}

interface JsonReply {
  readonly error?: { readonly type: string; readonly message: string };
  readonly content?: readonly { readonly text?: string }[];
  readonly choices?: readonly { readonly message: { readonly content: string } }[];
}

interface Chunk {
  readonly error?: { readonly type: string; readonly message: string };
  readonly delta?: { readonly text?: string };
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[];
}

function textOfJson({ content, choices }: JsonReply): string {
  if (choices !== undefined) return choices.map(({ message }) => message.content).join('');
  return (content ?? []).map(({ text = '' }) => text).join('');
}

function dataOf({ data }: SseEvent): Chunk[] {
  return data === null || data === '[DONE]' ? [] : [JSON.parse(data) as Chunk];
}

function textOfChunk({ delta, choices }: Chunk): string {
  return delta?.text ?? (choices ?? []).map((choice) => choice.delta.content ?? '').join('');
}
