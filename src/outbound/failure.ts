// Why a request got no reply, in words for its sender.
import { EgressError } from './egress.ts';
import type { Hop } from './hop.ts';

/** The error for a missing reply, by the code of the library or the system. */
export function failureOf({ url }: Hop, cause: unknown): EgressError {
  if (cause instanceof EgressError) return cause;
  const { code = '', name } = (cause ?? {}) as { readonly code?: string; readonly name?: string };
  if (code === 'UND_ERR_INVALID_ARG')
    return new EgressError('refused', 'The request has a method or header that cannot be sent.', { cause });
  if (name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new EgressError('bad_reply', `The host ${url.host} does not respond with HTTP.`, { cause });
  if (/CERT|SSL|TLS/.test(code))
    return new EgressError('unreachable', `The host ${url.host} has no trusted certificate.`, { cause });
  return new EgressError('unreachable', `The host ${url.host} could not be reached.`, { cause });
}
