// Bytes of the public interface (§4.7) to the letter, asked of a real daemon.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PNG, type PublishedSite, startPublishedSite } from '../../support/publishing/published-site.ts';

let site: PublishedSite;

beforeAll(async () => {
  site = await startPublishedSite();
});
afterAll(async () => {
  await site.fixture.daemon.close();
});

describe('bytes', () => {
  const content = () => `${site.share('image')}/content`;

  test('bytes come with GET, and their headers with HEAD', { tags: ['§4.7-content', 'F3'] }, async () => {
    for (const path of [content(), `${site.share('image')}/media`, `${site.share('image')}/assets/photo.png`]) {
      const got = await site.read(path);
      expect([path, got.status, got.bytes.equals(PNG)]).toEqual([path, 200, true]);
      const head = await site.read(path, { method: 'HEAD' });
      expect([path, head.status, head.bytes.length]).toEqual([path, 200, 0]);
      for (const name of [
        'content-type',
        'content-length',
        'etag',
        'accept-ranges',
        'content-security-policy',
        'last-modified',
      ])
        expect([path, name, head.headers[name]]).toEqual([path, name, got.headers[name]]);
      expect(got.headers).toMatchObject({
        'content-length': String(PNG.length),
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-request-id': expect.any(String),
      });
      expect(got.headers['content-security-policy']).toMatch(/(^|; *)sandbox/);
      expect(got.headers['content-security-policy']).not.toContain('allow-same-origin');
      expect(got.headers['set-cookie']).toBeUndefined();
    }
  });

  test.each([
    ['bytes=0-3', 206, 'bytes 0-3/70', 4],
    ['bytes=66-', 206, 'bytes 66-69/70', 4],
    ['bytes=-4', 206, 'bytes 66-69/70', 4],
    ['bytes=0-999', 206, 'bytes 0-69/70', 70],
    ['bytes=70-', 416, 'bytes */70', null],
    ['bytes=5-2', 416, 'bytes */70', null],
    ['lines=1-2', 200, undefined, 70],
  ])('bytes of a range %s are %i', { tags: ['F4-shares'] }, async (range, status, contentRange, length) => {
    expect(PNG.length).toBe(70);
    const got = await site.read(content(), { headers: { range } });
    expect([range, got.status, got.headers['content-range']]).toEqual([range, status, contentRange]);
    if (length !== null) expect(got.bytes.length).toBe(length);
  });

  test('bytes are not sent again to a reader that has them', { tags: ['F4-shares'] }, async () => {
    const { headers } = await site.read(content());
    expect(headers.etag).toMatch(/^"/);
    for (const condition of [
      { 'if-none-match': headers.etag },
      { 'if-none-match': `"other", ${headers.etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': headers['last-modified'] },
    ]) {
      const again = await site.read(content(), { headers: condition });
      expect([condition, again.status, again.bytes.length]).toEqual([condition, 304, 0]);
    }
    for (const condition of [{ 'if-none-match': '"other"' }, { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }])
      expect([condition, (await site.read(content(), { headers: condition })).status]).toEqual([condition, 200]);
    const ranged = { range: 'bytes=0-3', 'if-range': '"other"' };
    expect((await site.read(content(), { headers: ranged })).status).toBe(200);
    expect((await site.read(content(), { headers: { ...ranged, 'if-range': headers.etag } })).status).toBe(206);
  });

  test.each([
    ['index.html', 200],
    ['style.css', 200],
    ['moon.png', 200],
    ['sub/data.json', 200],
    ['sub/a%20b%2520%23%3F.txt', 200],
    ['sub/%C3%A9.txt', 200],
    ['sub/e%CC%81.txt', 404],
    ['Style.css', 404],
    ['style.CSS', 404],
    ['.secret', 404],
    ['link.css', 404],
    ['sub', 404],
    ['sub/', 404],
    ['', 404],
    ['../plain.txt', 404],
    ['%2e%2e/plain.txt', 404],
    ['sub/../style.css', 404],
    ['./style.css', 404],
    ['/style.css', 404],
    ['%2Fetc%2Fpasswd', 404],
    ['sub%2Fdata.json', 404],
    ['style.css%00', 404],
    ['style.css%00.png', 404],
    ['sub%5Cdata.json', 404],
    ['site/style.css', 404],
    ['style.css?download=1', 200],
    ['%FF', 404],
    ['missing.css', 404],
    ['x'.repeat(4_000), 404],
  ])('bytes of the asset %s are %i', { tags: ['F4-assets', 'F13-paths'] }, async (path, status) => {
    const reply = await site.read(`${site.share('page')}/assets/${path}`);
    expect([path, reply.status]).toEqual([path, status]);
    if (status === 404 && reply.json !== undefined) expect(reply.json).toMatchObject({ code: 404, data: null });
  });

  test('bytes of an asset are those of its name', { tags: ['F4-assets'] }, async () => {
    expect((await site.read(`${site.share('page')}/assets/sub/a%20b%2520%23%3F.txt`)).text).toBe('odd');
    expect((await site.read(`${site.share('page')}/assets/style.css`)).headers['content-type']).toMatch(/^text\/css/);
    const { headers } = await site.read(`${site.share('page')}/assets/style.css?download=1`);
    expect(headers['content-disposition']).toMatch(/^attachment/);
  });

  test('HTML, SVG and XML run nothing with the daemon’s origin', { tags: ['F3'] }, async () => {
    const html = await site.read(`${site.share('page')}/content`);
    expect(html.headers['content-security-policy']).toMatch(/^sandbox /);
    expect(html.headers['content-security-policy']).toContain("form-action 'none'");
    const svg = await site.read(`${site.share('svg')}/content`);
    expect(svg.headers['content-security-policy']).toMatch(/sandbox(;|$)/);
    expect(svg.headers['content-security-policy']).not.toContain('allow-scripts');
    expect((await site.read(`${site.share('xml')}/content`)).headers['content-type']).toMatch(/^text\/plain/);
  });
});
