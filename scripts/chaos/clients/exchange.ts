// One turn of a persistent client across crashes: sent, lost, sent again or rejoined, with everything it saw recorded.
import { setTimeout as sleep } from 'node:timers/promises';
import { readSse, type SseEvent } from '../../../test/support/http/sse.ts';
import { wordsOf } from '../model/plan.ts';
import { AGAIN } from './operator.ts';

/** A key at the daemon. */
export interface ApiTarget {
  readonly url: string;
  readonly key: string;
}

export interface TurnRequest {
  readonly number: number;
  readonly protocol: 'chat' | 'messages';
  readonly stream: boolean;
  /** Tool events on the Messages protocol, `id:` lines on chat. */
  readonly extras: boolean;
  /** Submitted in the background and polled; on the Messages protocol, without a stream, in a session of its own. */
  readonly background: boolean;
  /** Null opens a new session. */
  readonly sessionId: string | null;
  readonly attachment: string | null;
  /** A lost stream is rejoined at its last event instead of being requested again. */
  readonly rejoins: boolean;
  /** After this time the client disconnects by itself, once. Null: never. */
  readonly leavesAfterMs: number | null;
}

/** What a client saw of its turn. `unknown`: a chat request was lost before it was known whether it created a run. */
export interface Observation {
  readonly target: ApiTarget;
  readonly request: TurnRequest;
  /** Requests that may have been accepted. */
  sends: number;
  rejoins: number;
  sessionId: string | null;
  runId: string | null;
  end: 'completed' | 'failed' | 'canceled' | 'unknown' | 'overdue' | null;
  /** Text of a non-stream answer. */
  text: string | null;
  /** Events with an id, across all connections. */
  readonly frames: Map<number, { readonly name: string | null; readonly data: string }>;
  readonly problems: string[];
}

type Attempt = 'over' | 'lost';

const PATHS = { chat: '/openapi/v1/chat/completions', messages: '/openapi/v1/messages' } as const;
const BUSY = new Set([...AGAIN, 429]);
/** Longer than any turn takes; only for a hung turn. */
const PATIENCE_MS = 1_200_000;
const POLL_MS = 400;
const WAITING = new Set(['queued', 'running', 'finalizing']);

/** Carries one turn to its end. Calls `accepted` as soon as the session is known, and in any case before it resolves. */
export async function exchange(
  target: ApiTarget,
  request: TurnRequest,
  accepted: (observation: Observation) => void,
): Promise<Observation> {
  const observation: Observation = {
    target,
    request,
    sends: 0,
    rejoins: 0,
    sessionId: request.sessionId,
    runId: null,
    end: null,
    text: null,
    frames: new Map(),
    problems: [],
  };
  const until = performance.now() + PATIENCE_MS;
  while ((await attempt(observation, accepted)) === 'lost') {
    // Without a key of its own a chat request that is sent again may become a second run.
    if (request.protocol === 'chat' && observation.runId === null && observation.sends > 0) observation.end = 'unknown';
    else if (performance.now() > until) observation.end = 'overdue';
    if (observation.end !== null) break;
    await sleep(25);
  }
  accepted(observation);
  return observation;
}

async function attempt(observation: Observation, accepted: (observation: Observation) => void): Promise<Attempt> {
  const { request, runId } = observation;
  const leaving = new AbortController();
  const isFirst = observation.sends === 0;
  const timer =
    request.leavesAfterMs === null || !isFirst ? undefined : setTimeout(() => leaving.abort(), request.leavesAfterMs);
  try {
    const rejoins = runId !== null && request.stream && (request.rejoins || request.protocol === 'chat');
    const polls = runId !== null && request.background;
    const response = await (rejoins
      ? rejoin(observation, runId)
      : polls
        ? poll(observation, runId)
        : send(observation, leaving.signal));
    if (BUSY.has(response.status)) {
      await response.body?.cancel();
      return 'lost';
    }
    noteIds(observation, response.headers);
    if (observation.sessionId !== null) accepted(observation);
    if (request.background) return await readBackground(observation, response);
    return response.headers.get('content-type')?.startsWith('text/event-stream') === true
      ? await readStream(observation, response)
      : await readAnswer(observation, response);
  } catch (error) {
    // A daemon that is down, a broken connection, an event cut in the middle: all of them are expected here.
    if (
      error instanceof TypeError ||
      (error instanceof Error && /aborted|within an event|terminated/.test(error.message))
    )
      return 'lost';
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** What a turn's idempotency key is. */
export function keyOf(number: number): string {
  return `piece-${number}`;
}

function send(observation: Observation, signal: AbortSignal): Promise<Response> {
  const { target, request } = observation;
  const { number, protocol, stream, extras, attachment } = request;
  const file = {
    type: 'file',
    file_name: `paper-${number}.txt`,
    source: { type: 'base64', media_type: 'text/plain', data: Buffer.from(attachment ?? '').toString('base64') },
  };
  const content = [{ type: 'text', text: wordsOf(number) }, ...(attachment === null ? [] : [file])];
  const body = {
    model: 'any',
    stream,
    messages: [{ role: 'user', content }],
    ...(request.sessionId === null ? {} : { metadata: { session_id: request.sessionId } }),
    ...(protocol === 'messages' ? { max_tokens: 1_000, idempotency_key: keyOf(number) } : {}),
    ...(request.background ? { background: true } : {}),
    ...(protocol === 'chat' && stream && extras ? { stream_options: { include_usage: true } } : {}),
  };
  observation.sends += 1;
  const post = { method: 'POST', headers: headersOf(target, extras), body: JSON.stringify(body), signal };
  return refusedIsUnsent(fetch(target.url + PATHS[protocol], post), observation);
}

/** A request to a port without a listener can't have been accepted. */
async function refusedIsUnsent(response: Promise<Response>, observation: Observation): Promise<Response> {
  try {
    const answer = await response;
    if (BUSY.has(answer.status) && answer.headers.get('x-run-id') === null) observation.sends -= 1;
    return answer;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    if (cause?.code === 'ECONNREFUSED') observation.sends -= 1;
    throw error;
  }
}

async function rejoin(observation: Observation, runId: string): Promise<Response> {
  const { target } = observation;
  const after = String(Math.max(0, ...observation.frames.keys()));
  const headers = { ...headersOf(target, observation.request.extras), 'last-event-id': after };
  const response = await fetch(`${target.url}/openapi/v1/runs/${runId}/stream`, { headers });
  observation.rejoins += 1;
  return response;
}

async function poll({ target }: Observation, runId: string): Promise<Response> {
  await sleep(POLL_MS);
  return fetch(`${target.url}/openapi/v1/runs/${runId}`, { headers: headersOf(target, false) });
}

function headersOf({ key }: ApiTarget, extras: boolean): Record<string, string> {
  const flags = extras ? { 'x-stream-tool-events': 'true', 'x-stream-event-ids': 'true' } : {};
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...flags };
}

function noteIds(observation: Observation, headers: Headers): void {
  const reported = { sessionId: headers.get('x-session-id'), runId: headers.get('x-run-id') };
  for (const name of ['sessionId', 'runId'] as const) {
    const [known, now] = [observation[name], reported[name]];
    if (known !== null && now !== null && known !== now) observation.problems.push(`${name} was ${known}, then ${now}`);
    observation[name] = known ?? now;
  }
}

interface BackgroundBody {
  readonly content: readonly { readonly text: string }[];
  readonly background_results: { readonly run_id: string; readonly session_id: string; readonly status: string };
}

async function readBackground(observation: Observation, response: Response): Promise<Attempt> {
  const text = await response.text();
  if (response.status !== 202 && response.status !== 200) {
    observation.problems.push(`answered ${response.status}: ${text.slice(0, 200)}`);
    observation.end = 'failed';
    return 'over';
  }
  const { content, background_results: results } = JSON.parse(text) as BackgroundBody;
  if (results.run_id !== observation.runId || results.session_id !== observation.sessionId)
    observation.problems.push('the body names another run or session than the headers');
  if (WAITING.has(results.status)) return 'lost';
  if (results.status === 'completed') observation.text = content.map((block) => block.text).join('');
  observation.end = results.status as 'completed' | 'failed' | 'canceled';
  return 'over';
}

async function readAnswer(observation: Observation, response: Response): Promise<Attempt> {
  const text = await response.text();
  if (response.status === 200) {
    const body = JSON.parse(text) as {
      content?: { text: string }[];
      choices?: { message: { content: string } }[];
    };
    observation.text = body.choices?.[0]?.message.content ?? (body.content ?? []).map((block) => block.text).join('');
    observation.end = 'completed';
    return 'over';
  }
  // Only a failed run may get such a reply; anything else is a fault of the daemon.
  const isStopped = response.status === 409 && response.headers.get('x-run-id') !== null;
  const isRunFailure = response.status === 500 || response.status === 504 || isStopped;
  if (!isRunFailure || response.headers.get('x-run-id') === null) {
    observation.problems.push(`answered ${response.status}: ${text.slice(0, 200)}`);
  }
  observation.end = isStopped ? 'canceled' : 'failed';
  return 'over';
}

async function readStream(observation: Observation, response: Response): Promise<Attempt> {
  let last = 0;
  for await (const event of readSse(response.body as AsyncIterable<Uint8Array>)) {
    if (event.comment !== null || event.event === 'ping') continue;
    const end = endOf(event);
    if (end === 'restarting') return 'lost';
    if (event.id !== null && event.id !== '') {
      const id = Number(event.id);
      if (id <= last) observation.problems.push(`event ${id} came after ${last}`);
      last = id;
      noteFrame(observation, id, event);
    }
    if (end === null) continue;
    observation.end = end;
    return 'over';
  }
  return 'lost';
}

function noteFrame({ frames, problems }: Observation, id: number, event: SseEvent): void {
  const frame = { name: event.event, data: event.data ?? '' };
  const known = frames.get(id);
  if (known === undefined) frames.set(id, frame);
  else if (known.data !== frame.data || known.name !== frame.name)
    problems.push(`event ${id} was sent in two versions`);
}

function endOf({ event, data }: SseEvent): 'completed' | 'failed' | 'canceled' | 'restarting' | null {
  if (event === 'message_stop' || data === '[DONE]') return 'completed';
  const isError = event === 'error' || (event === null && data?.startsWith('{"error"') === true);
  if (!isError) return null;
  // The run goes on, and its stream can be rejoined.
  if (/server restarting|database is not reachable/.test(data ?? '')) return 'restarting';
  return data?.includes('The run was stopped.') === true ? 'canceled' : 'failed';
}
