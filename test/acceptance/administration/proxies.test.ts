// The daemon behind the real nginx with config/proxies/nginx.conf: streams, large requests, clients and hosts.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { hasNginx, startNginx } from '../../support/http/nginx.ts';
import { makeAskThrough } from '../../support/http/ask-through.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
const SITE = read('config/proxies/nginx.conf');

const ERRAND_YAML = `
public_url: https://errand.example.com
share_origin: https://shares.example.com
trusted_proxies: [127.0.0.1]
`;

const turn = (content: string | object[], stream: boolean) => ({
  model: 'any',
  stream,
  messages: [{ role: 'user', content }],
});

test('the document shows the examples as they are', () => {
  const document = read('docs/PROXIES.md');
  for (const [language, name] of [
    ['nginx', 'nginx.conf'],
    ['caddy', 'Caddyfile'],
    ['yaml', 'traefik.yaml'],
    ['nginx', 'nginx-nodes.conf'],
    ['haproxy', 'haproxy-nodes.cfg'],
    ['yaml', 'traefik-nodes.yaml'],
  ])
    expect(document).toContain(`\`\`\`${language} ${name}\n${read(`config/proxies/${name}`)}\`\`\``);
});

test.skipIf(!hasNginx())(
  'behind nginx, a stream arrives as it is written, a large request passes, clients keep their address, shares their host, and links lead through it',
  async () => {
    const models = await startModelServer();
    onTestFinished(models.close);
    const daemon = await startDaemonProcess({ modelServerUrl: models.url, errandYaml: ERRAND_YAML });
    onTestFinished(daemon.close);
    const port = await startNginx(SITE, { '127.0.0.1:8484': new URL(daemon.url).host });
    const ask = makeAskThrough(port, daemon.apiKey);
    const method = 'POST';

    // The model writes its second word only when the client has read the first.
    const gate = Promise.withResolvers<void>();
    models.enqueue({ text: ['first ', 'second'], hang: 'mid-stream', afterDeltas: 1, until: gate.promise });
    const stream = await ask('/openapi/v1/messages', { method, body: turn('Count.', true) });
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    let seen = '';
    for await (const chunk of stream) {
      seen += String(chunk);
      if (seen.includes('first')) gate.resolve();
    }
    expect(seen).toContain('second');

    models.enqueue({ text: 'Received.' });
    const bytes = Buffer.alloc(15 * 1_048_576, 'x').toString('base64');
    const source = { type: 'base64', media_type: 'application/octet-stream', data: bytes };
    const large = turn(
      [
        { type: 'document', title: 'large.bin', source },
        { type: 'text', text: 'Keep it.' },
      ],
      false,
    );
    const received = await ask('/openapi/v1/messages', { method, body: large });
    expect([received.statusCode, await text(received)]).toEqual([200, expect.stringContaining('Received.')]);

    const lie = { 'x-forwarded-for': '203.0.113.9' };
    await text(await ask('/openapi/v1/sessions', { localAddress: '127.0.0.5', headers: lie }));
    await waitFor(() => daemon.stderr().includes('"client_address":"127.0.0.5"'));
    expect(daemon.stderr()).not.toContain('203.0.113.9');

    for (const [host, path, status] of [
      ['shares.example.com', '/api/v1/public/publishes', 200],
      ['shares.example.com', '/healthz', 404],
      ['errand.example.com', '/api/v1/public/publishes', 404],
      ['errand.example.com', '/healthz', 200],
    ] as const) {
      const { statusCode } = await ask(path, { headers: { host } });
      expect([host, path, statusCode]).toEqual([host, path, status]);
    }

    const artifacts = `/openapi/v1/sessions/${String(received.headers['x-session-id'])}/artifacts`;
    const linkAt = async (host: string) => {
      const reply = await ask(artifacts, {
        headers: { host, 'x-forwarded-proto': 'http', 'x-forwarded-host': 'a.example' },
      });
      const { archive } = JSON.parse(await text(reply)) as { archive: { url: string } | null };
      return archive === null ? null : new URL(archive.url).origin;
    };
    await waitFor(async () => (await linkAt('errand.example.com:8443')) === 'https://errand.example.com');
    await writeFile(join(daemon.configDir, 'errand.yaml'), 'trusted_proxies: [127.0.0.1]\n');
    await waitFor(async () => (await linkAt('errand.example.com:8443')) === 'https://errand.example.com:8443');
  },
);
