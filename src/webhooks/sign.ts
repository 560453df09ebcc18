// Signatures of deliveries: X-Service-Signature (§6.4), and those of the Standard Webhooks specification (H4).
import { createHmac } from 'node:crypto';
import { isoTime } from '../domain/clock.ts';

/** The secrets that sign now. `previous` is the one before a rotation, during its overlap of 24 h. */
export interface SigningSecrets {
  readonly current: string;
  readonly previous: string | null;
}

export interface Signable {
  readonly eventId: string;
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
  /** The moment of the attempt, in epoch ms. */
  readonly at: number;
}

/** The same as a receiver gets it: with the time as the header has it. */
type Signed = Omit<Signable, 'at'> & { readonly timestamp: string };

/** A Standard Webhooks secret: this prefix, then the key in Base64. */
const ENCODED = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/;

/** The headers that sign an attempt; none without secrets. */
export function signatureHeaders(signable: Signable, secrets: SigningSecrets | null): Record<string, string> {
  if (secrets === null) return {};
  const { current, previous } = secrets;
  const { service, standard } = signedTexts(signable);
  const both = previous === null ? [current] : [current, previous];
  return {
    'X-Service-Signature': serviceSignature(service, current),
    ...(previous === null ? {} : { 'X-Service-Signature-Previous': serviceSignature(service, previous) }),
    'webhook-id': signable.eventId,
    'webhook-timestamp': standard.timestamp,
    'webhook-signature': both.map((secret) => standardSignature(standard, secret)).join(' '),
  };
}

/** `sha256=<hex>` over the timestamp, a dot and the body; the key is the secret in UTF-8 (§6.4, H18). */
export function serviceSignature({ body, timestamp }: Omit<Signed, 'eventId'>, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

/** `v1,<Base64>` over the id, the time in seconds and the body, joined with dots. */
export function standardSignature({ body, timestamp, eventId }: Signed, secret: string): string {
  const { key, encoding } = standardKey(secret);
  const mac = createHmac('sha256', key, { encoding });
  return `v1,${mac.update(`${eventId}.${timestamp}.`).update(body).digest('base64')}`;
}

/** What each signature is made of: the exact bytes. */
export function baseStrings(signable: Signable): { readonly service: Buffer; readonly standard: Buffer } {
  const { service, standard } = signedTexts(signable);
  const { body, eventId } = signable;
  return {
    service: Buffer.concat([Buffer.from(`${service.timestamp}.`), body]),
    standard: Buffer.concat([Buffer.from(`${eventId}.${standard.timestamp}.`), body]),
  };
}

/** What each scheme signs: they write the time differently. */
function signedTexts({ at, ...signable }: Signable): { readonly service: Signed; readonly standard: Signed } {
  return {
    service: { ...signable, timestamp: isoTime(at) },
    standard: { ...signable, timestamp: String(Math.floor(at / 1_000)) },
  };
}

/** The key of a Standard Webhooks signature: decoded Base64 after `whsec_`, else the secret in UTF-8 (H18). */
function standardKey(secret: string): { readonly key: string; readonly encoding: 'base64' | 'utf8' } {
  const encoded = ENCODED.exec(secret)?.[1];
  // Node takes five times as long with a key in a buffer.
  return encoded ? { key: encoded, encoding: 'base64' } : { key: secret, encoding: 'utf8' };
}
