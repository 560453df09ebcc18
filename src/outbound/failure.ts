// Why a request got no reply, in words for its sender.
import { EgressError, type EgressFailure } from './egress.ts';
import type { Hop } from './hop.ts';
import { WayError } from './ways/way-error.ts';

type Words = readonly [kind: EgressFailure, words: (host: string) => string];

const CLOSED: Words = ['unreachable', (host) => `The host ${host} closed the connection without a reply.`];
const SLOW: Words = ['unreachable', (host) => `The host ${host} did not accept a connection in time.`];
const NO_ROUTE: Words = ['unreachable', (host) => `No route leads to the host ${host}.`];
const NO_HTTP: Words = ['bad_reply', (host) => `The host ${host} does not respond with HTTP.`];
const SELF_SIGNED: Words = ['unreachable', (host) => `The certificate of ${host} is self-signed.`];
const UNKNOWN_ISSUER: Words = [
  'unreachable',
  (host) => `The certificate of ${host} has no trusted issuer, or the server does not send its whole chain.`,
];

/** By the code of the system, of TLS or of the library. */
const FAILURES: Readonly<Record<string, Words>> = {
  UND_ERR_INVALID_ARG: ['refused', () => 'The request has a method or header that cannot be sent.'],
  UND_ERR_HEADERS_OVERFLOW: NO_HTTP,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['bad_reply', (host) => `The reply of ${host} breaks off.`],
  UND_ERR_SOCKET: CLOSED,
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ECONNREFUSED: ['unreachable', (host) => `The host ${host} refused the connection.`],
  UND_ERR_CONNECT_TIMEOUT: SLOW,
  ETIMEDOUT: SLOW,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  CERT_HAS_EXPIRED: ['unreachable', (host) => `The certificate of ${host} has expired.`],
  CERT_NOT_YET_VALID: ['unreachable', (host) => `The certificate of ${host} is not valid yet.`],
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: SELF_SIGNED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  ERR_TLS_CERT_ALTNAME_INVALID: ['unreachable', (host) => `The certificate of ${host} is for another name.`],
};

/** For all other codes: the first that matches. */
const OTHERS: readonly (readonly [RegExp, Words])[] = [
  [/^HPE_/, NO_HTTP],
  [/CERT/, ['unreachable', (host) => `The host ${host} has no trusted certificate.`]],
  [/SSL|TLS|^EPROTO$/, ['unreachable', (host) => `The host ${host} does not complete a TLS handshake.`]],
  [/(?:)/, ['unreachable', (host) => `The host ${host} could not be reached.`]],
];

/** The error for a missing reply, by the code of the library or the system. */
export function failureOf({ url }: Pick<Hop, 'url'>, cause: unknown): EgressError {
  if (cause instanceof EgressError) return cause;
  if (cause instanceof WayError) return new EgressError('unreachable', cause.message, { cause });
  const { code = '', name } = (cause ?? {}) as { readonly code?: string; readonly name?: string };
  const known = name === 'HTTPParserError' ? NO_HTTP : Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined;
  const [kind, words] = known ?? OTHERS.find(([pattern]) => pattern.test(code))![1];
  return new EgressError(kind, words(url.host), { cause });
}

/** Whether the other side closed the connection. */
export function isClosing(cause: unknown): boolean {
  const { code = '' } = (cause ?? {}) as { readonly code?: string };
  return FAILURES[code] === CLOSED;
}
