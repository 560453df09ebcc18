// Errors under /share as people see them, and the files that the pages are made with.
import { expect, test } from 'vitest';
import { ErrandError, notFound } from '../../../src/domain/errors.ts';
import { errorPageReply } from '../../../src/http/share/page-reply.ts';
import { openFixture } from '../../support/http/http-fixture.ts';

test('an address that leads nowhere is a page, and elsewhere still JSON', { tags: ['F2-pages'] }, async () => {
  const { url } = await openFixture();
  const response = await fetch(`${url}/share/p/%3Cscript%3E/x`);
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  const text = await response.text();
  expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
  expect(text).toContain('<h1>Nothing is shared here</h1>');
  expect(text).not.toContain('script>');
  expect((await fetch(`${url}/shared`)).headers.get('content-type')).toBe('application/json; charset=utf-8');
});

test('the policy of a page admits only what carries its nonce, another one each time', async () => {
  const { url } = await openFixture();
  const nonces = new Set<string>();
  for (const _ of [1, 2]) {
    const response = await fetch(`${url}/share/p/nothing/here`);
    const policy = response.headers.get('content-security-policy') ?? '';
    const [, nonce = ''] = /script-src 'nonce-([^']{22,})'/.exec(policy) ?? [];
    expect(policy).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; img-src 'self' data:; media-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'`,
    );
    expect(await response.text()).toMatch(
      new RegExp(`<link rel="stylesheet" href="[^"]+" nonce="${nonce.replace(/[+/]/g, '\\$&')}">`),
    );
    nonces.add(nonce);
  }
  expect(nonces.size).toBe(2);
});

test('a wrong method is a page, and says which it should be', async () => {
  const { url } = await openFixture();
  const response = await fetch(`${url}/share/static/style.css`, { method: 'POST', body: 'x'.repeat(100_000) });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD');
  expect(await response.text()).toContain('This can’t be answered');
});

test.each([
  [notFound('Share'), 404, 'Nothing is shared here'],
  [new ErrandError('not_found', 'x', { details: { why: 'expired' } }), 404, 'This share has expired'],
  [new ErrandError('not_found', 'x', { details: { why: 'withdrawn' } }), 404, 'This share was withdrawn'],
  [new ErrandError('rate_limited', 'x'), 429, 'Too many attempts'],
  [new ErrandError('unavailable', 'x'), 503, 'Temporarily unavailable'],
  [new ErrandError('internal', 'secret'), 500, 'Something went wrong'],
  [new Error('secret'), 500, 'Something went wrong'],
])('%s is %s: %s', (error, status, title) => {
  const reply = errorPageReply(error);
  expect(reply.status).toBe(status);
  const text = reply.body.toString();
  expect(text).toContain(`<title>${title}</title>`);
  expect(text).toContain(`<h1>${title}</h1>`);
  expect(text).not.toContain('secret');
});

test('too many attempts say when to try again', () => {
  const error = new ErrandError('rate_limited', 'x', { details: { retryAfterSeconds: 41 } });
  expect(errorPageReply(error).headers).toMatchObject({ 'Retry-After': '41', 'Cache-Control': 'no-store' });
});

test('the stylesheet has a name of its content, and is kept for good', async () => {
  const { url } = await openFixture();
  const [, address] =
    /href="(\/share\/static\/style\.[0-9a-f]{12}\.css)"/.exec(await (await fetch(`${url}/share/`)).text()) ?? [];
  const plain = await fetch(url + address!, { headers: { 'accept-encoding': 'identity' } });
  expect(plain.status).toBe(200);
  expect(plain.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('vary')).toBe('Accept-Encoding');
  const text = await plain.text();
  expect(text).toContain('prefers-color-scheme: dark');
  expect(text).not.toMatch(/url\(|@import/);
  const zipped = await fetch(url + address!, { headers: { 'accept-encoding': 'gzip' } });
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(await zipped.text()).toBe(text);
  const old = await fetch(url + address!.replace(/\.[0-9a-f]+\./, '.000000000000.'));
  expect(old.status).toBe(404);
});
