// What went wrong with a model call, in words for the run's caller, and whether to retry.
import { MB } from '../../../domain/byte-units.ts';
import type { FailedCall } from '../../../domain/sessions/model-call.ts';
import type { RunError } from '../../../domain/sessions/run.ts';
import { redactorOfEndpoint } from '../../../outbound/secrets/endpoint-secrets.ts';
import { WayError } from '../../../outbound/ways/way-error.ts';
import { FAULT_KINDS, UnreachedError, UpstreamFault } from '../../models/upstream-fault.ts';
import type { ModelGrant } from '../../port/grants.ts';
import type { RunLimits } from '../../port/protocol.ts';
import type { Silence } from './watchdog.ts';

/**
 * `outcome`: its kind, for operators. `again`: a retry may help, if no text of the reply was streamed. `isDown`: its server
 * can't serve at the moment, as while it is restarted. `isTooLong`: the call was longer than the server takes. `waitMs`: what the
 * server asked for (`Retry-After`). `said`: the server's own message, for operators; callers get the one in `error` (§7).
 */
export interface ModelFailure {
  readonly error: RunError;
  readonly outcome: FailedCall;
  readonly again: boolean;
  readonly isDown: boolean;
  readonly isTooLong?: boolean;
  readonly waitMs: number | null;
  readonly said: string | null;
}

/** The name of the error for bytes that are no response. */
const NOT_HTTP = 'HTTPParserError';
/** What the client refuses to send, such as a header with a line break. */
const OWN_FAULT = 'UND_ERR_INVALID_ARG';
const MAX_SAID_CHARACTERS = 4_000;

const NETWORK_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  EPIPE: 'the connection was closed',
  EMFILE: 'the daemon has too many files and connections open',
  ENFILE: 'the machine has too many files and connections open',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CLOSED: 'the connection was closed',
  UND_ERR_DESTROYED: 'the connection was closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the reply was cut short',
};

/** Any other fault of a connection in the middle of a reply: of the client, or of TLS. */
const BROKEN = /^(?:UND_ERR_|ERR_SSL_|ERR_TLS_)/;

/** Faults of the network that a restart of the server, or of its machine, explains. */
const OUTAGES: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ETIMEDOUT']);

/** A failed call: which model, and within which limits. */
interface Called {
  readonly model: ModelGrant;
  readonly limits: RunLimits;
}

/** The failure behind an error of the server, of the network or of the client. */
export function failureOf(error: unknown, { model: grant, limits }: Called, now: number): ModelFailure {
  const model = `The model "${grant.name}"`;
  if (error instanceof UpstreamFault) return upstreamFailure(error, { model: grant, limits }, now);
  const way = [...causesOf(error)].find((cause) => cause instanceof WayError);
  if (way !== undefined) {
    const failure = passing('unreachable', `${model} could not be reached. ${way.message}`);
    return { ...failure, again: way.isDown, isDown: way.isDown, error: { ...failure.error, retryable: way.isDown } };
  }
  const codes = codesOf(error);
  if (codes.includes('UND_ERR_CONNECT_TIMEOUT')) {
    const words = `${model} could not be reached: connecting took too long.`;
    return { ...passing('unreachable', words), error: timeout(words), isDown: true };
  }
  // Of a name with several addresses, each has failed in its way.
  const network = codes.find((code) => OUTAGES.has(code)) ?? codes.find((code) => NETWORK_FAULTS[code] !== undefined);
  if (network !== undefined) {
    const failure = passing('unreachable', `${model} could not be read: ${NETWORK_FAULTS[network]}.`);
    return { ...failure, isDown: OUTAGES.has(network) };
  }
  if ([...causesOf(error)].some(({ name }) => name === NOT_HTTP)) {
    return upstreamFailure(new UpstreamFault('protocol', 'It does not speak HTTP.'), { model: grant, limits }, now);
  }
  const [code] = codes;
  if (code !== undefined && code !== OWN_FAULT && (error instanceof UnreachedError || BROKEN.test(code))) {
    const words = error instanceof UnreachedError ? 'reached' : 'read: the connection broke';
    return { ...passing('unreachable', `${model} could not be ${words}.`), said: code };
  }
  return ownFailure(error, model);
}

function upstreamFailure(fault: UpstreamFault, { model, limits }: Called, now: number): ModelFailure {
  const { words, outcome, again, isDown, retryable } = FAULT_KINDS[fault.kind];
  const detail =
    fault.kind === 'reply_too_large'
      ? ` (more than ${limits.maxReplyBytes / MB} MB)`
      : fault.status === null || fault.status < 300
        ? ''
        : ` (HTTP status ${fault.status})`;
  return {
    error: { type: 'api_error', message: `The model "${model.name}" ${words}${detail}.`, retryable },
    outcome,
    again,
    isDown,
    isTooLong: fault.kind === 'context_too_long',
    waitMs: retryAfterOf(fault.retryAfter, now),
    said: textForOperators(fault, model),
  };
}

/** The failure of a model that was silent too long (D8). It is not retried: the time is spent. */
export function silenceFailure(silence: Silence, grant: ModelGrant, limits: RunLimits): ModelFailure {
  const model = `The model "${grant.name}"`;
  const words: Readonly<Record<Silence, string>> = {
    'first-token': `${model} sent nothing for ${seconds(limits.firstTokenTimeoutMs)} seconds.`,
    idle: `${model} fell silent for ${seconds(limits.idleTimeoutMs)} seconds in the middle of its reply.`,
  };
  return { error: timeout(words[silence]), outcome: 'timeout', again: false, isDown: false, waitMs: null, said: null };
}

/** Milliseconds as seconds for people: `120`, `0.3`. */
export function seconds(ms: number): string {
  return String(Math.round(ms / 100) / 10);
}

/** What `Retry-After` asks for in milliseconds: seconds or a date (RFC 9110 §10.2.3); null when absent or unreadable. */
export function retryAfterOf(header: string | null, now: number): number | null {
  const value = header?.trim() ?? '';
  if (value === '') return null;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Any other error. It may quote the request, so only its name is reported. */
function ownFailure(error: unknown, model: string): ModelFailure {
  const cause = error instanceof UnreachedError ? error.cause : error;
  const name = cause instanceof Error ? cause.name : 'unknown error';
  return {
    error: fault(`The call to ${model} failed (${name}).`.replace('to The', 'to the'), false),
    outcome: 'failed',
    again: false,
    isDown: false,
    waitMs: null,
    said: null,
  };
}

const fault = (message: string, retryable: boolean): RunError => ({ type: 'api_error', message, retryable });
const timeout = (message: string): RunError => ({ type: 'timeout_error', message, retryable: true });
const passing = (outcome: ModelFailure['outcome'], message: string): ModelFailure => ({
  error: fault(message, true),
  outcome,
  again: true,
  isDown: false,
  waitMs: null,
  said: null,
});

/** The server's message for operators: on one line, bounded, without the credentials of the call. */
function textForOperators({ message, isCut }: UpstreamFault, model: ModelGrant): string | null {
  const line = message.replace(/\s+/g, ' ').trim();
  return redactorOfEndpoint(model)(line, isCut).text.slice(0, MAX_SAID_CHARACTERS).toWellFormed() || null;
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
    const each = cause instanceof AggregateError ? [cause, ...(cause.errors as unknown[])] : [cause];
    return each.flatMap((one) => {
      const { code } = one as { code?: unknown };
      return typeof code === 'string' ? [code] : [];
    });
  });
}
