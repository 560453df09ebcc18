// The token endpoint's handler.
import type { Operations } from '../../operations/operations.ts';
import type { ClientAddressOf } from '../server/client-address.ts';
import { readCredential } from '../frame/credentials.ts';
import type { Exchange } from '../frame/exchange.ts';
import { type GrantWire, loginToken } from '../../wire/people/token.ts';
import { ok } from '../replies/reply.ts';
import { grantOf } from './token-wire.ts';

/** What every reply under a path carries, including a refusal before any route is found (§4.1). */
export function standingHeaders(path: string): Readonly<Record<string, string>> {
  return path.startsWith('/openapi/v1/auth/') ? { 'Cache-Control': 'no-store', Pragma: 'no-cache' } : {};
}

/** Makes the handler. Throws what `logIn` throws, and `unauthenticated` for a bad header. */
export function makeTokenEndpoint({ logIn }: Operations, addressOf: ClientAddressOf) {
  return async ({ req, body }: Exchange<unknown, GrantWire>) => {
    const readApiKey = () => readCredential(req.rawHeaders, 'authorization');
    const token = await logIn(grantOf(body, { address: addressOf(req), readApiKey }));
    return ok(loginToken.render(token));
  };
}
