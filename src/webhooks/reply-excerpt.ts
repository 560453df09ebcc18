// What is kept of a reply: the start of its text, safe to show, without secrets.
import { KB } from '../domain/byte-units.ts';
import { firstBytes } from '../domain/excerpt.ts';
import type { PooledReply } from '../outbound/exchange.ts';
import { makeRedactor } from '../outbound/secrets/redact.ts';
import { safeText } from '../terminal/text.ts';
import type { SigningSecrets } from './sign.ts';

const MAX_EXCERPT_BYTES = 1_024;
/** What is searched for secrets: enough that one at the end of the excerpt is found whole. */
const SEARCHED_BYTES = 16 * KB;

/** At most 1 KB in UTF-8 of the body's text, without control characters; null for no text and for a compressed body. */
export function replyExcerpt({ headers, body }: PooledReply, secrets: SigningSecrets | null): string | null {
  const coding = headers['content-encoding'] ?? 'identity';
  if (body.length === 0 || coding.toLowerCase() !== 'identity') return null;
  const isCut = body.length > SEARCHED_BYTES;
  const text = safeText(body.toString('utf8', 0, SEARCHED_BYTES));
  const hidden = forms(secrets);
  const plain = mayContain(body, hidden) ? makeRedactor(hidden)(text, isCut).text : text;
  return firstBytes(plain, MAX_EXCERPT_BYTES).trim() || null;
}

/** Most replies are shorter than any form of a secret, and a redactor is costly to make. */
function mayContain(body: Buffer, hidden: readonly string[]): boolean {
  return hidden.some((secret) => Buffer.byteLength(secret) <= body.length);
}

/** A secret as it is entered, and without the prefix of Standard Webhooks. */
function forms(secrets: SigningSecrets | null): string[] {
  if (secrets === null) return [];
  const all = [secrets.current, ...(secrets.previous === null ? [] : [secrets.previous])];
  return all.flatMap((secret) => [secret, secret.replace(/^whsec_/, '')]);
}
