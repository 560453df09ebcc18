// What went wrong with a model call, in words for the run's caller, and whether to try again.
import { APICallError, JSONParseError, TypeValidationError } from '@ai-sdk/provider';
import type { RunError } from '../domain/run.ts';
import { NOT_A_STREAM } from './models/http.ts';
import type { ModelGrant } from './grants.ts';
import type { RunLimits } from './protocol.ts';
import type { Silence } from './watchdog.ts';

/** `again`: a new try may help, if nothing of the answer was streamed. `waitMs`: what the server asked for (`Retry-After`). */
export interface ModelFailure {
  readonly error: RunError;
  readonly again: boolean;
  readonly waitMs: number | null;
}

const EXCERPT_CHARACTERS = 200;

const NETWORK_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CLOSED: 'the connection was closed',
  UND_ERR_DESTROYED: 'the connection was closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the reply was cut short',
};

/** The failure behind an error of the AI SDK, of its providers or of the network. Tells neither keys nor the request. */
export function failureOf(error: unknown, grant: ModelGrant, now: number): ModelFailure {
  const model = `The model "${grant.name}"`;
  const codes = codesOf(error);
  if (codes.includes('UND_ERR_CONNECT_TIMEOUT')) {
    return { error: timeout(`${model} could not be reached: connecting took too long.`), again: true, waitMs: null };
  }
  const excerpt = (text: string | undefined) => excerptOf(text, grant.apiKey);
  if (APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode >= 400) {
    const retryable = isPassing(error.statusCode);
    const words = `${model} answered with HTTP status ${error.statusCode}${excerpt(error.responseBody)}`;
    return { error: fault(words, retryable), again: retryable, waitMs: retryAfterOf(error.responseHeaders, now) };
  }
  if (codes.includes(NOT_A_STREAM)) {
    const { contentType, message } = error as Error & { contentType: string };
    const words = `${model} answered with a document (${contentType}) instead of a stream${excerpt(message)}`;
    return { error: fault(words, false), again: true, waitMs: null };
  }
  const network = codes.map((code) => NETWORK_FAULTS[code]).find((words) => words !== undefined);
  if (network !== undefined) return passing(`${model} could not be read: ${network}.`);
  const cause = innermost(error);
  if (JSONParseError.isInstance(cause) || TypeValidationError.isInstance(cause)) {
    return { error: fault(`${model} sent something that breaks its protocol.`, false), again: true, waitMs: null };
  }
  if (APICallError.isInstance(error)) return passing(`${model} could not be reached.`);
  return providerFailure(error, model, excerpt) ?? endedEarly(error, model);
}

/** A failure of a stream that ended, or was cut, before the model had finished. */
export function cutStream(grant: ModelGrant): ModelFailure {
  return passing(`The model "${grant.name}" broke off: its reply ended before it was finished.`);
}

/** The failure of a model that was silent too long (D8). It is not tried again: the time is spent. */
export function silenceFailure(silence: Silence, grant: ModelGrant, limits: RunLimits): ModelFailure {
  const model = `The model "${grant.name}"`;
  const words: Readonly<Record<Silence, string>> = {
    'first-token': `${model} sent nothing for ${seconds(limits.firstTokenTimeoutMs)} seconds.`,
    idle: `${model} fell silent for ${seconds(limits.idleTimeoutMs)} seconds in the middle of its reply.`,
  };
  return { error: timeout(words[silence]), again: false, waitMs: null };
}

/** Milliseconds as seconds for people: `120`, `0.3`. */
export function seconds(ms: number): string {
  return String(Math.round(ms / 100) / 10);
}

/** What `Retry-After` asks for in milliseconds: seconds or a date (RFC 9110 §10.2.3); null when absent or unreadable. */
export function retryAfterOf(headers: Record<string, string> | undefined, now: number): number | null {
  const value = headers?.['retry-after']?.trim();
  if (value === undefined || value === '') return null;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Errors that a server reports inside its stream: plain objects of the provider, with a message of the server's. */
function providerFailure(error: unknown, model: string, excerpt: (text: string) => string): ModelFailure | undefined {
  if (error instanceof Error || typeof error !== 'object' || error === null) return undefined;
  const { message } = error as { message?: unknown };
  return passing(`${model} reported an error${excerpt(typeof message === 'string' ? message : '')}`);
}

/** Whatever is left: broken sockets have many faces, and the SDK's own errors may quote the request, so only names are told. */
function endedEarly(error: unknown, model: string): ModelFailure {
  const name = error instanceof Error ? error.name : 'unknown error';
  const isCut =
    error instanceof TypeError || name === 'AI_InvalidResponseDataError' || name === 'AI_NoOutputGeneratedError';
  if (isCut) return passing(`${model} broke off: its reply ended before it was finished.`);
  return {
    error: fault(`The call to ${model} failed (${name}).`.replace('to The', 'to the'), false),
    again: false,
    waitMs: null,
  };
}

const fault = (message: string, retryable: boolean): RunError => ({ type: 'api_error', message, retryable });
const timeout = (message: string): RunError => ({ type: 'timeout_error', message, retryable: true });
const passing = (message: string): ModelFailure => ({ error: fault(message, true), again: true, waitMs: null });

function isPassing(status: number): boolean {
  return status === 429 || status === 408 || status >= 500;
}

function excerptOf(text: string | undefined, apiKey: string | null): string {
  const line = (text ?? '').replace(/\s+/g, ' ').trim();
  if (line === '') return '.';
  const safe = apiKey === null || apiKey === '' ? line : line.replaceAll(apiKey, '[key]');
  return `: ${Array.from(safe).slice(0, EXCERPT_CHARACTERS).join('')}`;
}

function* causesOf(error: unknown): Generator<Error> {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth += 1) {
    yield current;
    current = current.cause;
  }
}

function codesOf(error: unknown): string[] {
  return [...causesOf(error)].flatMap((cause) => {
    const { code } = cause as { code?: unknown };
    return typeof code === 'string' ? [code] : [];
  });
}

/** The first cause that says what was wrong with the bytes, else the error itself. */
function innermost(error: unknown): unknown {
  const known = [...causesOf(error)].find(
    (cause) => JSONParseError.isInstance(cause) || TypeValidationError.isInstance(cause),
  );
  return known ?? error;
}
