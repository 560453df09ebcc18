// Where `/office` is, and what every reply below it carries (0054).
import type { Headers } from '../../replies/head.ts';

/** Whether a path belongs to Office Mode in browsers. */
export function isOfficePath(path: string): boolean {
  return path === '/office' || path.startsWith('/office/');
}

const STANDING: Headers = {
  // Of whatever is no page: nothing of it is loaded or shown by another one.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

/** What every reply under a path carries, refusals too. */
export function officeHeaders(path: string): Headers {
  return isOfficePath(path) ? STANDING : {};
}

/** The path of `/office` as browsers have it. A proxy takes the path of `public_url` off. */
export function rootOf(publicUrl: string): string {
  return `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/office`;
}
