// A delivery as the receiver got it: its headers, its bytes, what was signed, and a line for curl.
import { domainToASCII } from 'node:url';
import type { WebhookEventType } from '../../../domain/webhooks/webhook.ts';
import { isoTime } from '../../../domain/clock.ts';
import { requestHeaders } from '../../../webhooks/attempt.ts';
import { baseStrings } from '../../../webhooks/sign.ts';
import type { Context } from '../../frame/context.ts';
import { shellWord } from '../../../terminal/shell-word.ts';

/** One attempt. */
export interface SentRequest {
  readonly url: string;
  readonly eventType: WebhookEventType;
  readonly eventId: string;
  readonly body: string;
  /** When it was sent and signed, epoch ms. */
  readonly at: number;
  /** Null when it isn't at hand: then there are no signatures. */
  readonly secret: string | null;
}

/** The document of a request. */
export interface RequestDocument {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the signatures are made of: the exact text, in UTF-8. */
  readonly signed: { readonly 'X-Service-Signature': string; readonly 'webhook-signature': string };
  readonly curl: string;
}

/** The request in full. Without the secret, the headers lack those that sign. */
export function requestDocument({ url, eventType, eventId, body, at, secret }: SentRequest): RequestDocument {
  const bytes = Buffer.from(body);
  const secrets = secret === null ? null : { current: secret, previous: null };
  const own = requestHeaders({ eventType, eventId, secrets }, { body: bytes, at });
  const { service, standard } = baseStrings({ eventId, body: bytes, at });
  return {
    method: 'POST',
    url,
    headers: { Host: hostOf(url), Connection: 'keep-alive', ...own, 'Content-Length': String(bytes.length) },
    body,
    signed: { 'X-Service-Signature': service.toString(), 'webhook-signature': standard.toString() },
    curl: curlOf(url, own, body),
  };
}

function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  return (domainToASCII(hostname) || hostname) + (port === '' ? '' : `:${port}`);
}

/** Without what curl sends by itself. */
function curlOf(url: string, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`);
  return ['curl', shellWord(url), ...lines, '--data-binary', shellWord(body)].join(' ');
}

/** Prints a request in parts. */
export function printRequest({ out }: Context, request: RequestDocument): void {
  const { url, headers, body, signed, curl } = request;
  const { pathname, search } = new URL(url);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  out.text(`\nPOST ${pathname}${search} HTTP/1.1\n${head.join('')}\n${body}\n`);
  out.text(`\nX-Service-Signature signs (HMAC-SHA256, in hex):\n${signed['X-Service-Signature']}\n`);
  out.text(`\nwebhook-signature signs (HMAC-SHA256, in Base64):\n${signed['webhook-signature']}\n`);
  out.text(`\nThe same with curl:\n${curl}\n`);
}

/** What to know about a printed request. */
export function hintAtSignature(
  { out }: Context,
  webhook: { readonly has_secret: boolean },
  at: number,
  secret: string | null,
) {
  if (!webhook.has_secret) return out.hint('The webhook has no secret, so nothing was signed.');
  if (secret === null)
    return out.hint(
      'It was signed as well: add --secret-file FILE to see the signatures. The daemon never shows its secret.',
    );
  out.hint(`Signed with the secret in the file, for ${isoTime(at)}. Receivers refuse it five minutes later.`);
  out.hint('For 24 hours after a rotation, the daemon signs with the previous secret as well.');
}
