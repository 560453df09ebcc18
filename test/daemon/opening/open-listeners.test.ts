import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { adviceOnLinks } from '../../../src/daemon/opening/open-listeners.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

test.each([
  ['', null],
  [
    'trusted_proxies: [127.0.0.1]\n',
    /^links lead to http:\/\/127\.0\.0\.1:8484, .* unless it sends X-Forwarded-Proto .* set public_url/,
  ],
  [
    'listen: "unix:/run/errand-http/http.sock"\n',
    /^links lead to http:\/\/localhost, where clients of a proxy find nothing: /,
  ],
  ['trusted_proxies: [127.0.0.1]\npublic_url: https://errand.example\n', null],
])('with %j, an operator whose links could lead nowhere is told so', (yaml, words) => {
  const loaded = loadConfig({ configDir: temporaryDirectory({ 'errand.yaml': yaml }) }, {});
  const advice = loaded.ok ? adviceOnLinks(loaded.config) : undefined;
  if (words === null) expect(advice).toBeNull();
  else expect(advice).toMatch(words);
});
