// What goes wrong at a model server, by kind. Callers get our words for the kind; the server's message is for operators.
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { FailedCall } from '../../domain/sessions/model-call.ts';

interface KindFacts {
  /** Follows the model's name in a sentence. */
  readonly words: string;
  readonly outcome: FailedCall;
  /** Whether a retry of the same call may help. */
  readonly again: boolean;
  /** Whether its server can't serve at the moment, as while it starts: a call has patience with it. */
  readonly isDown: boolean;
  /** Whether a new run may succeed. */
  readonly retryable: boolean;
}

const KIND = { again: true, isDown: false, retryable: true };
const lasting = (words: string): KindFacts => ({ ...KIND, words, outcome: 'rejected', again: false, retryable: false });
const throttled = (words: string): KindFacts => ({ ...KIND, words, outcome: 'throttled' });
const down = (words: string): KindFacts => ({ ...throttled(words), isDown: true });
const failed = (words: string, retryable: boolean): KindFacts => ({ ...KIND, words, outcome: 'failed', retryable });

/** Every kind, and what it means for the run. */
export const FAULT_KINDS = {
  authentication: lasting('did not accept the credential it was called with'),
  permission: lasting('may not be called with its credential'),
  quota: lasting('has no credit left at its provider'),
  unknown_model: lasting('is not known at its endpoint'),
  moved: lasting('is not at its address: the endpoint redirects elsewhere'),
  context_too_long: lasting('was sent more than its context window takes'),
  request_too_large: lasting('was sent a larger request than its endpoint takes'),
  too_many_images: lasting('does not take the images that it was sent'),
  filtered: lasting("withheld its answer: its provider's content filter stepped in"),
  bad_request: lasting('did not accept the request'),
  reply_too_large: lasting('sent a longer reply than is accepted'),
  rate_limited: throttled('was called too often'),
  overloaded: down('is overloaded'),
  gateway: { ...down('could not be reached by the gateway in front of it'), outcome: 'unreachable' },
  crowded: throttled('has no room in the context that its calls share'),
  failing: failed('failed at its endpoint', true),
  unreadable: failed('wrote a reply that its server could not read', true),
  cut: failed('broke off: its reply ended before it was finished', true),
  document: failed('answered with a document instead of a stream', false),
  protocol: failed('sent something that violates its protocol', false),
} as const satisfies Readonly<Record<string, KindFacts>>;
export type FaultKind = keyof typeof FAULT_KINDS;

export interface FaultFacts {
  readonly status?: number;
  readonly retryAfter?: string | undefined;
  readonly isCut?: boolean | undefined;
}

/** A failure that a model server reported, or that its bytes show. The message is the server's: for operators only. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly kind: FaultKind;
  /** Status of the HTTP response; null when the failure came in a stream. */
  readonly status: number | null;
  /** The header as it was sent. */
  readonly retryAfter: string | null;
  /** Whether the message ends where reading did, perhaps in the middle of a word. */
  readonly isCut: boolean;

  constructor(kind: FaultKind, said: string, facts: FaultFacts = {}) {
    super(said);
    this.kind = kind;
    this.status = facts.status ?? null;
    this.retryAfter = facts.retryAfter ?? null;
    this.isCut = facts.isCut ?? false;
  }
}

/** No reply came: its cause is an error of the network, or of the client before it. */
export class UnreachedError extends Error {
  override readonly name = 'UnreachedError';

  constructor(cause: unknown) {
    super('The model server could not be reached.', { cause });
  }
}

const BY_STATUS: Readonly<Record<number, FaultKind>> = {
  401: 'authentication',
  402: 'quota',
  403: 'permission',
  404: 'unknown_model',
  408: 'failing',
  413: 'request_too_large',
  429: 'rate_limited',
  502: 'gateway',
  503: 'overloaded',
  504: 'gateway',
  // Cloudflare's own words for 502 and 504.
  521: 'gateway',
  522: 'gateway',
  523: 'gateway',
  524: 'gateway',
  529: 'overloaded',
};

/** `type` and `code` of errors as servers write them: OpenAI and Azure, Anthropic, vLLM, llama.cpp, gateways. */
const BY_WORD: Readonly<Record<string, FaultKind>> = {
  authentication_error: 'authentication',
  invalid_api_key: 'authentication',
  permission_error: 'permission',
  billing_error: 'quota',
  insufficient_quota: 'quota',
  rate_limit_error: 'rate_limited',
  rate_limit_exceeded: 'rate_limited',
  too_many_requests: 'rate_limited',
  overloaded_error: 'overloaded',
  overloaded: 'overloaded',
  unavailable_error: 'overloaded',
  api_error: 'failing',
  server_error: 'failing',
  internal_server_error: 'failing',
  internalservererror: 'failing',
  timeout_error: 'failing',
  not_found_error: 'unknown_model',
  notfounderror: 'unknown_model',
  model_not_found: 'unknown_model',
  deploymentnotfound: 'unknown_model',
  context_length_exceeded: 'context_too_long',
  exceed_context_size_error: 'context_too_long',
  request_too_large: 'request_too_large',
  content_filter: 'filtered',
  invalid_request_error: 'bad_request',
  badrequesterror: 'bad_request',
};
/** Kinds that say more than the status does. */
const PRECISE: ReadonlySet<FaultKind> = new Set(['quota', 'unknown_model', 'context_too_long', 'filtered']);
/** Kinds of which the message can say more. */
const VAGUE: ReadonlySet<FaultKind> = new Set(['bad_request', 'request_too_large', 'failing']);
const BY_MESSAGE: readonly (readonly [RegExp, FaultKind])[] = [
  // llama.cpp, of all calls in progress when together they fill the context of its slots.
  [/context size has been exceeded/i, 'crowded'],
  [
    /context (?:length|window|size|shift)|maximum context|prompt is too long|too many (?:input )?tokens/i,
    'context_too_long',
  ],
  // llama.cpp; Ollama; vLLM. The first two do so with status 500.
  [/image input is not supported|missing data required for image input|image\(s\) may be provided/i, 'too_many_images'],
  // Of tool calls that the model wrote wrongly: llama.cpp; Ollama.
  [/output that does not match the expected|error parsing tool call/i, 'unreadable'],
];

/** The fault behind a response with an error status. `body` is its beginning; `isCut`: not all of it. */
export function faultOfStatus(
  status: number,
  body: string,
  { retryAfter, isCut }: Omit<FaultFacts, 'status'> = {},
): UpstreamFault {
  const byStatus = kindOfStatus(status);
  const said = wordedKind(parse(body));
  const kind = said !== null && PRECISE.has(said) ? said : byStatus;
  return new UpstreamFault(preciseKind(kind, body), body, { status, retryAfter, isCut });
}

/** The fault that a server reports inside its stream, or in a document with status 200; null when it reports none. */
export function faultOfEvent(value: JsonValue, eventName = ''): UpstreamFault | null {
  if (!isJsonObject(value)) return null;
  const { error } = value;
  const isReport = (error !== undefined && error !== null) || value['object'] === 'error' || eventName === 'error';
  if (!isReport) return null;
  const said = JSON.stringify(error ?? value);
  return new UpstreamFault(preciseKind(wordedKind(value) ?? 'failing', said), said);
}

function kindOfStatus(status: number): FaultKind {
  const known = BY_STATUS[status];
  if (known !== undefined) return known;
  if (status < 400) return 'moved';
  return status >= 500 ? 'failing' : 'bad_request';
}

function wordedKind(value: JsonValue): FaultKind | null {
  if (!isJsonObject(value)) return null;
  const error = isJsonObject(value['error']) ? value['error'] : value;
  const words = [error['code'], error['type'], error['status']].flatMap((word) =>
    typeof word === 'string' || typeof word === 'number' ? [String(word)] : [],
  );
  const named = words.flatMap((word) =>
    Object.hasOwn(BY_WORD, word.toLowerCase()) ? BY_WORD[word.toLowerCase()]! : [],
  );
  if (named[0] !== undefined) return named[0];
  const status = Number(words.find((word) => /^[45]\d\d$/.test(word)));
  return Number.isNaN(status) ? null : kindOfStatus(status);
}

function preciseKind(kind: FaultKind, said: string): FaultKind {
  const found = VAGUE.has(kind) ? BY_MESSAGE.find(([words]) => words.test(said)) : undefined;
  return found?.[1] ?? kind;
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}
