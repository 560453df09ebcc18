// What each way to end means to the shell: one table, and the words that go with it.
import { CommanderError } from 'commander';
import { ClientError, type ClientFailure } from '../../client/transport/client-error.ts';
import { ErrandError, type ErrorReason, messageOf } from '../../domain/errors.ts';

/** The exit codes (K3). */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  unreachable: 3,
  notPermitted: 4,
  notFound: 5,
  conflict: 6,
  timedOut: 7,
  checkFailed: 8,
  badConfiguration: 78,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitName = keyof typeof EXIT;

/** A command's unsuccessful end. An empty message means that everything has been printed. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exit: ExitName;
  readonly hint: string | undefined;

  constructor(exit: ExitName, message: string, hint?: string) {
    super(message);
    this.exit = exit;
    this.hint = hint;
  }
}

/** How a command ended: the exit code, the message for stderr, and a hint. */
export interface Ending {
  readonly code: number;
  readonly message: string;
  readonly hint?: string | undefined;
}

const BY_STATUS: Readonly<Record<number, ExitName>> = {
  400: 'usage',
  401: 'notPermitted',
  403: 'notPermitted',
  404: 'notFound',
  408: 'timedOut',
  409: 'conflict',
  422: 'usage',
  504: 'timedOut',
};

const BY_KIND: Readonly<Record<Exclude<ClientFailure['kind'], 'refused' | 'failed'>, ExitName>> = {
  unreachable: 'unreachable',
  lost: 'unreachable',
  denied: 'notPermitted',
  timeout: 'timedOut',
  malformed: 'failure',
};

const BY_REASON: Readonly<Partial<Record<ErrorReason, ExitName>>> = {
  bad_request: 'usage',
  unprocessable: 'usage',
  unauthenticated: 'notPermitted',
  forbidden: 'notPermitted',
  not_found: 'notFound',
  conflict: 'conflict',
  wait_timeout: 'timedOut',
};

/** How the program was called and what starts its daemon, for hints. */
export interface Calling {
  readonly call: string;
  readonly start: string;
  readonly isService: boolean;
}

const HINTS: Readonly<Partial<Record<ClientFailure['kind'], (calling: Calling) => string | undefined>>> = {
  unreachable: startHint,
  lost: startHint,
  denied: ({ call, isService }) => (isService ? `Root may: sudo ${call} …` : undefined),
};

function startHint({ start }: Calling): string {
  return `Is the daemon running? Start it with: ${start}. If it runs elsewhere, use --data-dir or --url.`;
}

const USUAL: Calling = { call: 'errand', start: 'errand serve', isService: false };

/** The ending for an error that a command threw. */
export function endingOf(error: unknown, calling = USUAL): Ending {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: '' };
  if (error instanceof CommandError) return { code: EXIT[error.exit], message: error.message, hint: error.hint };
  if (error instanceof ErrandError) return { code: EXIT[BY_REASON[error.reason] ?? 'failure'], message: error.message };
  if (error instanceof ClientError) return clientEnding(error, calling);
  return { code: EXIT.failure, message: `Unexpected error: ${messageOf(error)}` };
}

function clientEnding(error: ClientError, calling: Calling): Ending {
  const exit = exitOf(error.failure);
  const { requestId, sessionId } = error.trace;
  // Errors of the caller explain themselves; for others, the log says more.
  const isInternal = exit === 'failure' && requestId !== undefined;
  const message = isInternal ? `${error.message} (request ${requestId})` : error.message;
  const hint = sessionId === undefined ? HINTS[error.failure.kind]?.(calling) : `Session: ${sessionId}`;
  return { code: EXIT[exit], message, hint };
}

function exitOf(failure: ClientFailure): ExitName {
  if (failure.kind === 'refused') return BY_STATUS[failure.status] ?? 'failure';
  if (failure.kind === 'failed') return failure.type.includes('timeout') ? 'timedOut' : 'failure';
  return BY_KIND[failure.kind];
}
