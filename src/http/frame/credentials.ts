// Reads the one credential of a request from its headers.
import { ErrandError } from '../../domain/errors.ts';

const BEARER = /^bearer +([^\s,]+)$/i;

/** Which headers may carry the credential: the management API takes `Authorization` only (§5). */
export type CredentialHeaders = 'both' | 'authorization';

/**
 * The credential of a request, or null when it carries none. The query is never read, nor a cookie but that of `office-cookie.ts` (A6).
 * Throws `unauthenticated` for a repeated header, another scheme, or two different credentials.
 */
export function readCredential(rawHeaders: readonly string[], accepted: CredentialHeaders): string | null {
  const authorization = readOnce(rawHeaders, 'authorization');
  const apiKey = readOnce(rawHeaders, 'x-api-key');
  const bearer = authorization === null ? null : bearerOf(authorization);
  if (apiKey === null) return bearer;
  if (apiKey === '') throw refused('The x-api-key header is empty.');
  if (bearer !== null && bearer !== apiKey) throw refused('The request carries two different credentials.');
  if (bearer === null && accepted === 'authorization')
    throw refused('This endpoint takes its key as "Authorization: Bearer <API_KEY>" only.');
  return apiKey;
}

// Node joins or drops repeated headers in `headers`; only the raw list shows them.
function readOnce(rawHeaders: readonly string[], name: string): string | null {
  let found: string | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]!;
    if (header.length !== name.length || header.toLowerCase() !== name) continue;
    if (found !== null) throw refused(`The ${name} header is repeated.`);
    found = rawHeaders[i + 1]!.trim();
  }
  return found;
}

function bearerOf(authorization: string): string {
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw refused('The Authorization header must read "Bearer <API_KEY>".');
  return token;
}

function refused(message: string): ErrandError {
  return new ErrandError('unauthenticated', message);
}
