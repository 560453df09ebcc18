// What went wrong with an MCP server, in words that a model and an administrator can act on.
import { EgressError } from '../../outbound/egress.ts';
import { messageOf } from '../../domain/errors.ts';
import { squeezedText } from '../../domain/text-pieces.ts';
import type { Redactor } from '../../outbound/secrets/redact.ts';
import { seconds } from '../loop/call/model-failure.ts';

const MAX_CHARACTERS = 400;

/** Why a server can't be used, or a call of it failed. `why` continues "The MCP server "x" …", without a full stop. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly why: string;
  /** Whether the connection is unusable. */
  readonly lost: boolean;

  constructor(why: string, { lost = false, cause }: { readonly lost?: boolean; readonly cause?: unknown } = {}) {
    super(why, { cause });
    this.why = why;
    this.lost = lost;
  }
}

interface Circumstances {
  /** How long we waited for the request. */
  readonly timeoutMs: number;
  /** How the server's process ended; null when it has not, or has none. */
  readonly ended: string | null;
  /** When a name was being looked up as the time was over. */
  readonly unresolved?: EgressError | undefined;
  /** Redacts quotes of the server. */
  readonly redact: Redactor;
}

/** The SDK's own codes. Errors are recognised by them, so that the SDK need not be loaded here. */
const BY_CODE: Readonly<Record<string, (circumstances: Circumstances, error: Error) => McpFailure>> = {
  REQUEST_TIMEOUT: ({ timeoutMs }) => new McpFailure(`did not answer within ${seconds(timeoutMs)} seconds`),
  CONNECTION_CLOSED: ({ ended }) => lostFor(ended),
  NOT_CONNECTED: ({ ended }) => lostFor(ended),
  SEND_FAILED: ({ ended }) => lostFor(ended),
  INVALID_RESULT: () => new McpFailure('sent a reply that violates the protocol'),
  UNSUPPORTED_RESULT_TYPE: () => new McpFailure('requested something that Errand does not offer'),
  CLIENT_HTTP_UNEXPECTED_CONTENT: () => new McpFailure('replied with something other than MCP'),
  CLIENT_HTTP_AUTHENTICATION: () => new McpFailure('refused the credentials it was sent'),
};

const lostFor = (ended: string | null) =>
  new McpFailure(ended === null ? 'closed the connection' : `has ended: ${ended}`, { lost: true });

/** The failure behind an error of the SDK, of the guarded fetch or of the sandbox. Quotes the server, never a request. */
export function mcpFailure(error: unknown, circumstances: Circumstances): McpFailure {
  if (error instanceof McpFailure) return error;
  const { code, status } = error as { code?: unknown; status?: unknown };
  const egress =
    (code === 'REQUEST_TIMEOUT' ? circumstances.unresolved : undefined) ??
    causesOf(error).find((cause) => cause instanceof EgressError);
  if (egress !== undefined)
    return new McpFailure(`could not be reached: ${unfinished(circumstances.redact(egress.message).text)}`, {
      cause: error,
    });
  if (circumstances.ended !== null) return lostFor(circumstances.ended);
  const httpStatus = statusOf(error, status);
  if (httpStatus !== undefined) {
    // A server replies with 404 to a session that it no longer knows; a new one may be opened.
    const words = httpStatus === 401 || httpStatus === 403 ? ' (are its credentials right?)' : '';
    return new McpFailure(`replied with HTTP status ${httpStatus}${words}`, {
      lost: httpStatus === 404,
      cause: error,
    });
  }
  const known = typeof code === 'string' ? BY_CODE[code] : undefined;
  if (known !== undefined && error instanceof Error) return known(circumstances, error);
  const words = unfinished(circumstances.redact(messageOf(error)).text);
  if (typeof code === 'number') return new McpFailure(`refused: ${words} (code ${code})`);
  return new McpFailure(`failed: ${words}`, { cause: error });
}

function statusOf(error: unknown, status: unknown): number | undefined {
  if (typeof status === 'number') return status;
  const { data } = error as { data?: { status?: unknown } };
  return typeof data?.status === 'number' ? data.status : undefined;
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && causes.length < 8; at = at.cause) causes.push(at);
  return causes;
}

function unfinished(message: string): string {
  const line = squeezedText(message).slice(0, MAX_CHARACTERS).toWellFormed();
  return line.replace(/\.$/, '');
}
