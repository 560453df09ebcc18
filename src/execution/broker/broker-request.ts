// What a run may send to a connected service, and what it gets of the reply.
import type { Services } from '../../agent/port/services.ts';
import type { Connector } from '../../domain/capabilities/connector.ts';
import { ErrandError } from '../../domain/errors.ts';
import { makeRedactor, secretsIn } from '../../outbound/secrets/redact.ts';
import type { GuardedReply } from '../../outbound/guarded-fetch.ts';

/** A request that the connector allows. `path` follows the base address and begins with `/`, or is empty. */
export interface ServiceRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * The request headers that an agent may set; the broker sets all others. No ranges: with them, a service could repeat a
 * credential in pieces, which can't be recognised.
 */
const FORWARDED: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'prefer',
]);
/** Reply headers that an agent gets. */
const RETURNED: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'link',
  'location',
  'retry-after',
  'x-total-count',
  'x-ratelimit-remaining',
]);
const MAX_BODY_CHARACTERS = 1_000_000;

/**
 * The agent's request. Throws `bad_request` with the requirement that it violates: a method and path that the connector allows,
 * never another address.
 */
export function readServiceRequest(
  connector: Connector,
  input: Services['connector_request']['input'],
): ServiceRequest {
  const refuse = (words: string) => new ErrandError('bad_request', words);
  const method = input.method.toUpperCase();
  if (!connector.methods.includes(method)) {
    throw refuse(`The connector "${connector.name}" allows the methods ${connector.methods.join(', ')} only.`);
  }
  if (!input.path.startsWith('/')) throw refuse('`path` must begin with "/".');
  // Parsed as it will be sent, so that dots, backslashes and escapes mean the same in both places.
  const base = new URL(connector.baseUrl);
  const url = URL.parse(connector.baseUrl + input.path);
  const inside = base.pathname === '/' ? '' : base.pathname.replace(/\/$/, '');
  if (url === null || url.origin !== base.origin || !url.pathname.startsWith(`${inside}/`) || url.hash !== '') {
    throw refuse('`path` must name a place below the base address of the service.');
  }
  const path = url.pathname.slice(inside.length);
  // Some servers drop what follows a semicolon, which restores the dots.
  if (/%2e|%2f|%5c|\/\.{1,2}(?:;|%3b)/i.test(path)) throw refuse('`path` must not contain escaped dots or slashes.');
  if (!connector.paths.some((pattern) => fits(pattern, path))) {
    throw refuse(`The connector "${connector.name}" allows the paths ${connector.paths.join(', ')} only.`);
  }
  if ((input.body?.length ?? 0) > MAX_BODY_CHARACTERS) throw refuse('`body` is too long.');
  const headers = Object.entries(input.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const strange = headers.find(([name, value]) => !FORWARDED.has(name) || /[\r\n\0]/.test(value));
  if (strange !== undefined) throw refuse(`The header "${strange[0]}" cannot be set here.`);
  return { method, path: path + url.search, headers: Object.fromEntries(headers), body: input.body };
}

/** Whether a path matches a pattern in which `*` stands for any characters. Linear: no pattern makes it slow. */
function fits(pattern: string, path: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (!path.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return path === pattern;
  let from = first.length;
  for (const part of rest) {
    const found = path.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return path.length - last.length >= from && path.endsWith(last);
}

/** The reply for the agent, with every repetition of a credential redacted, and the number of places where that happened. */
export function renderReply(
  reply: GuardedReply,
  credentials: readonly string[],
): { readonly rendered: Services['connector_request']['output']; readonly redacted: number } {
  const redact = makeRedactor(credentials.flatMap(secretsIn));
  const headers = Object.entries(reply.headers)
    .filter(([name]) => RETURNED.has(name))
    .map(([name, value]) => [name, redact(value)] as const);
  const text = Buffer.from(reply.body).toString('utf8').replaceAll('\0', '\uFFFD').toWellFormed();
  const body = redact(text, reply.truncated);
  return {
    rendered: {
      status: reply.status,
      headers: Object.fromEntries(headers.map(([name, value]) => [name, value.text])),
      body: body.text,
      truncated: reply.truncated,
    },
    redacted: headers.reduce((sum, [, value]) => sum + value.places, body.places),
  };
}
