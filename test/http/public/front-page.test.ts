// The page at `/`: for people, without anything that a stranger needn't know, and for nobody else.
import { expect, test } from 'vitest';
import { VERSION } from '../../../src/version.ts';
import { openFixture } from '../../support/http/http-fixture.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test('a browser is told what this is, and what clients are given', { tags: ['M5-front'] }, async () => {
  const { url } = await openFixture({ settings: { publicUrl: 'https://a.example/"><script>' } });
  const answer = await fetch(url, { headers: BROWSER });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('text/html');
  const page = await answer.text();
  for (const words of ['/openapi/v1</code>', '/openapi</code>', '/v1</code>', '"office"', '"openapi.json"', '"readyz"'])
    expect(page).toContain(words);
  expect(page).toContain('https://a.example/&quot;&gt;&lt;script&gt;');
  expect(page).not.toContain(VERSION);
  expect(page).not.toContain('<script');
});

test('it loads nothing and runs nothing', { tags: ['M5-front'] }, async () => {
  const { url } = await openFixture({ settings: { aliases: false, office: { web: false } } });
  const { headers, ...answer } = await fetch(url, { headers: BROWSER }).then(async (one) => ({
    headers: one.headers,
    text: await one.text(),
  }));
  const policy = headers.get('content-security-policy')!;
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('script-src');
  const style = /<style>(.*)<\/style>/.exec(answer.text)![1]!;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style));
  expect(policy).toContain(Buffer.from(digest).toString('base64'));
  expect(answer.text).not.toContain('In short');
  expect(answer.text).not.toContain('Office');
});

test('programs are told that nothing is here, as before', { tags: ['M5-front'] }, async () => {
  const { url } = await openFixture();
  for (const accept of ['application/json', '*/*']) {
    const answer = await fetch(url, { headers: { accept } });
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { type: 'error', error: { type: 'not_found_error', message: 'No such endpoint.' } },
    ]);
  }
});
