// All that docs/PUBLISHING.md shows works when it is pasted, and its tables are what the daemon does.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { jsonIn, openReader, type Reader } from '../../support/daemon/document-reader.ts';
import { openTriedDocument } from '../../support/files/document-blocks.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Its one block without a use here stands for the address of the daemon. */
const { block, untried } = openTriedDocument(ROOT, 'docs/PUBLISHING.md', 'export URL=');

const valueOf = (printed: string, name: string) =>
  new RegExp(`^${name}\\t(.+)$`, 'm').exec(printed)?.[1] ?? expect.fail(`no ${name} in ${printed}`);

describe('pages, as a reader has them', () => {
  let reader: Reader;
  let pageUrl: string;
  const ends: (() => void | Promise<void>)[] = [];

  beforeAll(async () => {
    const daemon = await startDaemonProcess();
    ends.push(daemon.close);
    reader = openReader(daemon, { onTestFinished: (end) => ends.push(end) });
    const printed = await reader.paste(block('write tides/style.css').text);
    reader.set({ SESSION_ID: /--session (\S+)/.exec(printed)?.[1] ?? expect.fail(printed) });
    pageUrl = valueOf(await reader.paste(block('publishes create Tides ').text), 'page_url');
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('the first page is read in a browser, and its next version, too', async () => {
    const opened = await fetch(pageUrl);
    expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await opened.text()).toContain('Tides');
    const printed = await reader.paste(block('publishes release').text);
    const shares = Array.from(printed.matchAll(/http\S+\/share\/[0-9A-Za-z]{22}/g), ([address]) => address);
    expect(new Set(shares).size).toBe(2);
    for (const address of shares) expect((await fetch(address)).status).toBe(200);
    reader.set({
      SHARE_CODE: valueOf(printed, 'share_code'),
      PUBLISH_KEY: pageUrl.split('/').at(-1) ?? '',
    });
  });

  test('a page is found by its name, changed and listed', async () => {
    const printed = await reader.paste(block('publishes list').text);
    expect(printed).toContain('For sailors');
    expect(printed).toContain('tides, harbour');
  });

  test('a program creates a page', async () => {
    const created = jsonIn(await reader.paste(block('"name": "Harbour"').text));
    expect(created).toMatchObject({ code: 0, data: { name: 'Harbour', version_count: 1 } });
  });

  test('everybody reads the public interface', async () => {
    const lines = block('/metadata"').text.trimEnd().split('\n');
    const [list = '', versions = '', metadata = '', content = '', asset = ''] = lines;
    expect(jsonIn(await reader.paste(list))).toMatchObject({ code: 0, data: [{ name: 'Tides', category: 'Sea' }] });
    expect(jsonIn(await reader.paste(versions))).toMatchObject({ data: [{ version_no: 2 }, { version_no: 1 }] });
    expect(jsonIn(await reader.paste(metadata))).toMatchObject({ data: { share_type: 'page', file_count: 2 } });
    expect(await reader.paste(content)).toContain('High at seven.');
    expect(await reader.paste(asset)).toContain('color: #124');
  });

  test('a page of a task has a version after each run', async () => {
    await reader.paste(block('schedules create').text);
    const listed = await waitFor(async () => {
      const printed = await reader.paste('bin/errand publishes versions "Tides today"');
      return /^1\tactive/m.test(printed) && printed;
    });
    const address = /http\S+\/share\/\S+/.exec(listed)?.[0] ?? '';
    expect(await (await fetch(address)).text()).toContain('Tides today');
  });

  test('a webhook is told', async () => {
    expect(await reader.paste(block('webhooks create site').text)).toMatch(
      /events\tpublish_page\.published, publish_page\.failed/,
    );
  });

  test('a share ends, and is withdrawn', async () => {
    const [set = '', never = '', revoke = ''] = block('shares revoke').text.split('\n');
    expect(await reader.paste(set)).toMatch(/^expires_at\t20/m);
    expect(await reader.paste(never)).toMatch(/^expires_at\t$/m);
    expect(await reader.paste(revoke)).toMatch(/^status\twithdrawn$/m);
    const { status, headers } = await fetch(`${reader.daemon.url}/share/${reader.env()['SHARE_CODE']}`);
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    await reader.paste('bin/errand publishes delete Tides --yes');
    expect((await fetch(pageUrl)).status).toBe(404);
  });
});

/** A port that nothing listens at. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** The status of a page at a host, asked of a port of this machine. */
async function statusAt(port: number, host: string, path: string): Promise<number> {
  const asked = request({ host: '127.0.0.1', port, path, headers: { host }, agent: false });
  asked.end();
  const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

const PLACES = [
  ['shares.example.com', '/share', 200],
  ['shares.example.com', '/api/v1/public/publishes', 200],
  ['shares.example.com', '/api/v1/publishes', 404],
  ['shares.example.com', '/openapi/v1/models', 404],
  ['shares.example.com', '/healthz', 404],
  ['errand.example.com', '/share', 404],
  ['errand.example.com', '/api/v1/public/publishes', 404],
  ['errand.example.com', '/api/v1/publishes', 401],
  ['errand.example.com', '/healthz', 200],
] as const;

test('shares have a host of their own, with the configuration that is shown, behind nginx where there is one', async () => {
  const errandYaml = block('share_origin: https').text;
  const daemon = await startDaemonProcess({ errandYaml });
  onTestFinished(daemon.close);
  const behind = Number(new URL(daemon.url).port);
  for (const [host, path, status] of PLACES)
    expect([host, path, await statusAt(behind, host, path)]).toEqual([host, path, status]);

  const shown = block('proxy_pass').text;
  block('reverse_proxy');
  if (spawnSync('nginx', ['-v']).error !== undefined) return;
  const port = await freePort();
  const site = shown
    .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
    .replace(/^\s*ssl_.*\n/gm, '')
    .replace('http://127.0.0.1:8484', daemon.url);
  const directory = temporaryDirectory();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  );
  const file = join(directory, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${directory}/nginx.pid; events {} http { access_log off; ${paths.join(' ')} ${site} }`,
  );
  const nginx = spawn('nginx', ['-e', join(directory, 'error.log'), '-p', directory, '-c', file], { stdio: 'ignore' });
  onTestFinished(async () => {
    if (nginx.exitCode !== null) return;
    nginx.kill('SIGTERM');
    await once(nginx, 'exit');
  });
  await waitFor(async () => (await statusAt(port, 'errand.example.com', '/healthz')) === 200);
  for (const [host, path, status] of PLACES)
    expect(['nginx', host, path, await statusAt(port, host, path)]).toEqual(['nginx', host, path, status]);
});

test('every block of the document was pasted above', () => {
  expect(untried()).toEqual([]);
});
