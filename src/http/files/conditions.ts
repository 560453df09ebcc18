// What a client has already: whether it is what would be sent (RFC 9110).
import type { IncomingHttpHeaders } from 'node:http';

/** What identifies the content of a file. */
export interface Validators {
  /** A strong entity tag, in its quotes. */
  readonly etag: string;
  /** As a header, in whole seconds; null where a file has no such time. */
  readonly lastModified: string | null;
}

/** A moment as headers have it, in whole seconds. */
export function httpDate(at: number): string {
  return new Date(at).toUTCString();
}

/** Whether the client has the content. `If-None-Match` decides if it is there; dates are for clients without tags. */
export function isKnown(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined)
    return tags.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
  if (since === undefined || lastModified === null) return false;
  return since === lastModified || dateOf(since) >= Date.parse(lastModified);
}

/** Whether a range is one of the content that would be sent: without a condition, or under this tag or time exactly. */
export function isSameContent({ 'if-range': known }: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  return known === undefined || known === etag || known === lastModified;
}

const DATE = /^[A-Z][a-z]+,? [\w: -]{10,30}$/;

/** The moment of a header in one of the three forms of HTTP; NaN for anything else. */
function dateOf(text: string): number {
  if (!DATE.test(text)) return Number.NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
