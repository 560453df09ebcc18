// A call whose answer is one JSON document: what is sent, what comes back, and how a refusal reads.
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import { ClientError } from './client-error.ts';
import { readText, send, traceOf, type Address, type Call } from './transport.ts';

/** A parsed answer and the headers it came with. */
export interface Answer {
  readonly status: number;
  readonly body: JsonValue;
  readonly sessionId: string | null;
  readonly runId: string | null;
}

/**
 * Sends a call and reads its JSON answer. Throws `refused` for a status of 300 or more, `malformed` for what is
 * not JSON, `timeout` when the whole exchange takes longer than the call allows.
 */
export async function exchange(address: Address, call: Call): Promise<Answer> {
  const deadline = call.timeoutMs === undefined ? undefined : AbortSignal.timeout(call.timeoutMs);
  const signals = [deadline, call.signal].filter((signal) => signal !== undefined);
  try {
    const reply = await send(address, { ...call, signal: AbortSignal.any(signals) });
    if (isRefusal(reply)) throw await refusalOf(reply);
    const { sessionId, runId } = traceOf(reply);
    const body = parse(await readText(reply), reply);
    return { status: reply.statusCode ?? 0, body, sessionId: sessionId ?? null, runId: runId ?? null };
  } catch (error) {
    if (deadline?.aborted !== true || call.signal?.aborted === true) throw error;
    throw new ClientError({ kind: 'timeout' }, 'The daemon gave no answer in time.', { cause: error });
  }
}

/** Calls one route of the management interface and returns the `data` of its envelope. */
export async function callManagement<T>(address: Address, call: Call): Promise<T> {
  const { body } = await exchange(address, { timeoutMs: 30_000, ...call });
  if (isJsonObject(body) && body['code'] === 0 && 'data' in body) return body['data'] as T;
  throw new ClientError({ kind: 'malformed' }, 'What answers there is not an Errand daemon.');
}

/** Whether a reply is a refusal, by its status. */
export function isRefusal(reply: IncomingMessage): boolean {
  return (reply.statusCode ?? 0) >= 300;
}

/** Reads a refusal's body, in either of the daemon's shapes (§7), into the client's error. */
export async function refusalOf(reply: IncomingMessage): Promise<ClientError> {
  const status = reply.statusCode ?? 0;
  const message = messageIn(await readText(reply)) ?? `The daemon answered ${status} ${STATUS_CODES[status] ?? ''}.`;
  return new ClientError({ kind: 'refused', status }, message, { trace: traceOf(reply) });
}

function messageIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body)) return undefined;
    const holder = isJsonObject(body['error']) ? body['error'] : body;
    return typeof holder['message'] === 'string' && holder['message'] !== '' ? holder['message'] : undefined;
  } catch {
    return undefined;
  }
}

function parse(text: string, reply: IncomingMessage): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    const options = { cause, trace: traceOf(reply) };
    throw new ClientError({ kind: 'malformed' }, 'What answers there is not an Errand daemon.', options);
  }
}
