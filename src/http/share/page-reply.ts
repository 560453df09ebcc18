// Pages as replies, with a policy that admits nothing but the daemon's own stylesheet, script, images and frames.
import { randomBytes } from 'node:crypto';
import { html, type Html } from '../replies/html.ts';
import type { Headers } from '../replies/head.ts';
import { errorReply } from '../replies/render-error.ts';
import type { Reply } from '../replies/reply.ts';
import { renderErrorPage } from './error-page.ts';

/**
 * What agents publish has the same origin as these pages, so `'self'` would admit their scripts and stylesheets: those of the
 * pages are named by a nonce.
 */
const headersOf = (nonce: string): Headers => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "media-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
});

const NONCE_BYTES = 16;

/** A page with a status. */
export function pageReply(render: (nonce: string) => Html, status = 200): Reply<Html> {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  return { status, headers: headersOf(nonce), body: render(nonce) };
}

/** Leads to another page. */
export function redirectTo(path: string): Reply<Html> {
  const reply = pageReply(() => html`<!doctype html><title>Elsewhere</title><a href="${path}">It is here.</a>`, 303);
  return { ...reply, headers: { ...reply.headers, Location: path } };
}

/** Whether people read what this path leads to: then its errors are pages, too. */
export function isPagePath(path: string): boolean {
  return path === '/share' || path.startsWith('/share/');
}

/** Anything thrown as a page, with the status and headers that it has everywhere. */
export function errorPageReply(thrown: unknown): Reply<Html> {
  const { status, headers } = errorReply(thrown, 'bare');
  const reply = pageReply((nonce) => renderErrorPage(thrown, status, nonce), status);
  return { ...reply, headers: { ...reply.headers, ...headers } };
}
