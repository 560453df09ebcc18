import { expect, test } from 'vitest';
import { loggedPath } from '../../../src/http/frame/logged-path.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { publishedFixture } from '../../support/http/published-fixture.ts';

const CODE = '4mZr0cPq8sVb2LhXn7KdWy';
const KEY = 'Tq3mB81nRZk0wXyd';

test.each([
  [`/share/${CODE}`, '/share/4mZr…'],
  [`/share/${CODE}/`, '/share/4mZr…/'],
  [`/share/%34${CODE.slice(1)}`, '/share/%34m…'],
  [`/share/p/${KEY}`, '/share/p/Tq3m…'],
  [`/api/v1/public/shares/${CODE}`, '/api/v1/public/shares/4mZr…'],
  [`/api/v1/public/shares/${CODE}/assets/img/high.png`, '/api/v1/public/shares/4mZr…/assets/img/high.png'],
  [`/api/v1/public/publishes/${KEY}/versions/3/files`, '/api/v1/public/publishes/Tq3m…/versions/3/files'],
  [`/api/v1/shares/${CODE}`, '/api/v1/shares/4mZr…'],
  [`/api/v1/publishes/${KEY}/versions`, '/api/v1/publishes/Tq3m…/versions'],
  ['/files/c2lnbmVk/a.txt', '/files/…/a.txt'],
])('the log has %s as %s', (path, logged) => {
  expect(loggedPath(path)).toBe(logged);
});

test.each([
  '/share',
  '/share/',
  '/share/p/',
  '/share/static/style.css',
  '/api/v1/publishes',
  '/api/v1/sessions/12345678',
])('the log has %s as it is', (path) => {
  expect(loggedPath(path)).toBe(path);
});

test('no line of a request contains the code of a share or the key of a page', async () => {
  const { site, send, lines } = await publishedFixture();
  const { key, shareCode, base } = await site({ '/site/index.html': '<h1>Tides</h1>', '/site/a.css': 'css' });
  const paths = [base, `${base}/content`, `${base}/assets/a.css`, `/share/${shareCode}`, `/share/p/${key}`];
  for (const path of paths) expect((await send(path)).status).toBe(200);
  await waitFor(() => lines.length === paths.length);
  expect(lines.map((line) => line['status'])).toEqual(paths.map(() => 200));
  expect(JSON.stringify(lines)).not.toContain(shareCode);
  expect(JSON.stringify(lines)).not.toContain(key);
  expect(lines.map((line) => line['path'])).toContain(`/share/${shareCode.slice(0, 4)}…`);
});
