// What every reply to an error has, whatever the shape of its body.
import { expect, test } from 'vitest';
import { openFixture } from '../../support/http/http-fixture.ts';

test.each(['/openapi/v1/runs/nothing', '/api/v1/public/shares/nothing', '/files/nothing/here', '/nothing'])(
  'no cache keeps the error of %s',
  async (path) => {
    const { url } = await openFixture();
    const response = await fetch(url + path);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get('cache-control')).toBe('no-store');
  },
);
