// Asks the single-sign-on provider who a token belongs to (§4.1 rule 2, B8).
import type { Agent } from 'undici';
import { KB } from '../../domain/byte-units.ts';
import { ErrandError } from '../../domain/errors.ts';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { Settings } from '../../domain/settings.ts';
import { untilAborted } from '../../domain/until-aborted.ts';
import { openOwnAgent } from '../../outbound/ways/own-agent.ts';
import { throughProxy } from '../../outbound/ways/proxy-rules.ts';
import { WayError } from '../../outbound/ways/way-error.ts';
import { USERNAME } from '../../domain/people/names.ts';

const MAX_ANSWER_BYTES = 64 * KB;
/** Concurrent connections to the provider; further requests wait, within their timeout. */
const CONNECTIONS = 16;

/** Returns the account that a provider's token belongs to. */
export type AskProvider = (sso: Settings['sso'], token: string) => Promise<string>;

/**
 * Makes the look-up. It throws `unauthenticated` when the provider rejects the token, `bad_gateway` when it can't be reached
 * in time or does not reply with an account. Redirects are not followed. No message contains the token.
 */
export function makeAskProvider(): AskProvider {
  let client: Promise<HttpClient> | undefined;
  return async (sso, token) => {
    client ??= loadClient();
    const { status, text } = await fetchAnswer(await client, sso, token);
    if (status === 401 || status === 403) throw refused();
    if (status !== 200) throw abnormal(`answered with status ${status}`);
    return accountIn(parse(text));
  };
}

/** The client library and its connections. Loaded with the first look-up: a daemon without sign-on does not need them. */
interface HttpClient {
  readonly request: typeof import('undici').request;
  readonly dispatcher: Agent;
}

async function loadClient(): Promise<HttpClient> {
  const { request } = await import('undici');
  return { request, dispatcher: await openOwnAgent({ connections: CONNECTIONS, maxHeaderSize: MAX_ANSWER_BYTES }) };
}

interface Answer {
  readonly status: number;
  /** Empty unless the status is 200. */
  readonly text: string;
}

async function fetchAnswer({ request, dispatcher }: HttpClient, sso: Settings['sso'], token: string): Promise<Answer> {
  const url = new URL(sso.userinfoUrl);
  url.searchParams.set(sso.tokenParameter, token);
  const signal = AbortSignal.timeout(sso.timeoutMs);
  try {
    const asking = request(url, {
      dispatcher,
      // An idle connection may be closed at the moment when it is used again.
      reset: true,
      headers: { accept: 'application/json', 'accept-encoding': 'identity' },
      signal,
    });
    // The library checks the signal only once it is connected.
    const { statusCode, body } = await untilAborted(asking, signal);
    if (statusCode !== 200) {
      body.on('error', () => undefined).destroy();
      return { status: statusCode, text: '' };
    }
    return { status: statusCode, text: await readAll(body) };
  } catch (error) {
    throw error instanceof ErrandError ? error : unreachable(error, url, sso.timeoutMs);
  }
}

async function readAll(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw abnormal(`answered with more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw abnormal('answered with something that is not JSON');
  }
}

function accountIn(answer: unknown): string {
  if (!isJsonObject(answer)) throw abnormal('answered with no JSON object');
  const { data, code } = answer;
  if ((data === undefined || data === null) && isFailureCode(code)) throw refused();
  const account = isJsonObject(data) ? accountOf(data['empNo']) : '';
  if (!USERNAME.test(account)) throw abnormal('answered without a usable data.empNo');
  return account;
}

/** A number beyond the safe integers may be read as another account's. */
function accountOf(empNo: JsonValue | undefined): string {
  if (typeof empNo === 'number') return Number.isSafeInteger(empNo) ? String(empNo) : '';
  return typeof empNo === 'string' ? empNo : '';
}

function isFailureCode(code: JsonValue | undefined): boolean {
  if (typeof code === 'number') return code !== 0;
  return typeof code === 'string' && code !== '' && Number(code) !== 0;
}

function unreachable(cause: unknown, url: URL, timeoutMs: number): ErrandError {
  const { name, code } = cause as { name?: string; code?: string };
  if (cause instanceof WayError)
    return new ErrandError('bad_gateway', `The single-sign-on service could not be reached. ${cause.message}`, {
      cause,
    });
  if (name === 'TimeoutError') return abnormal(`did not answer${throughProxy(url)} within ${timeoutMs} ms`, cause);
  return abnormal(`could not be reached${code === undefined ? '' : ` (${code})`}`, cause);
}

function abnormal(what: string, cause?: unknown): ErrandError {
  return new ErrandError('bad_gateway', `The single-sign-on service ${what}.`, { cause });
}

function refused(): ErrandError {
  return new ErrandError('unauthenticated', 'The SSO token is invalid or expired.');
}
