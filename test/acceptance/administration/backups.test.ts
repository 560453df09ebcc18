// The drill: a machine is gone, and its backup is all that is left.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { openReader } from '../../support/daemon/document-reader.ts';
import { openTriedDocument } from '../../support/files/document-blocks.ts';
import { type Of, temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { readSse } from '../../support/http/sse.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

type Json = ReturnType<typeof JSON.parse>;

const HANG: Reply = { text: ['half ', 'of it'], hang: 'mid-stream', afterDeltas: 1 };
const call = (name: string, input: object): Reply => ({ text: 'Calling. ', tools: [{ name, input }] });

async function drillFixture(of: Of = { onTestFinished }) {
  const model = await startModelServer();
  const daemon = await startDaemonProcess({ modelServerUrl: model.url });
  const directory = temporaryDirectory({ passphrase: 'a passphrase of the vault\n' }, of);
  of.onTestFinished(async () => {
    await daemon.close();
    await model.close();
  });
  const errand = async (...args: string[]) => (await runErrand([...args, '--data-dir', daemon.dataDir])).stdout;
  return { model, daemon, directory, place: join(directory, 'place'), errand };
}

async function post(daemon: DaemonProcess, text: string, sessionId?: string): Promise<Response> {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: text }],
      ...(sessionId !== undefined && { metadata: { session_id: sessionId } }),
    }),
  });
  expect(response.status).toBe(200);
  return response;
}

async function say(daemon: DaemonProcess, text: string, sessionId?: string): Promise<string> {
  const response = await post(daemon, text, sessionId);
  await response.text();
  return response.headers.get('x-session-id')!;
}

test('a daemon that was restored answers, lists, streams, resumes, and serves what was published', async () => {
  const { model, daemon, directory, place, errand } = await drillFixture();
  model.enqueue(call('write_file', { path: '/site/index.html', content: '<h1>Tides</h1>' }), { text: 'Written.' });
  const sessionId = await say(daemon, 'make a page');
  const [file] = await waitFor(async () => {
    const found = (await daemon.admin('GET', `/api/v1/sessions/${sessionId}/artifacts`)) as Json;
    const files = JSON.stringify(found).match(/http[^"]*\/files\/[^"]*index\.html/g);
    return files ?? undefined;
  });
  const page = (await daemon.admin('POST', '/api/v1/publishes', {
    name: 'Tides',
    session_id: sessionId,
    entry_path: '/site/index.html',
  })) as Json;
  model.enqueue(HANG);
  const hanging = await post(daemon, 'think');
  let lastId = '';
  for await (const event of readSse(hanging.body as AsyncIterable<Uint8Array>)) {
    lastId = event.id ?? lastId;
    if (event.data?.includes('half ') === true) break;
  }

  await errand(
    'backup',
    'create',
    '--to',
    place,
    '--with-master-key',
    '--passphrase-file',
    join(directory, 'passphrase'),
  );
  model.script({ text: 'too late' });
  await say(daemon, 'after the backup');
  await daemon.kill();
  rmSync(daemon.dataDir, { recursive: true });
  rmSync(daemon.configDir, { recursive: true, force: true });

  const configDir = ['--config-dir', daemon.configDir];
  await errand(
    'backup',
    'restore',
    place,
    '--to',
    daemon.dataDir,
    ...configDir,
    '--passphrase-file',
    join(directory, 'passphrase'),
  );
  model.script({ text: 'the whole answer' });
  await daemon.restart();

  const sessions = (await daemon.admin('GET', '/api/v1/sessions')) as Json;
  expect(sessions.total).toBe(2);
  const rejoined = await fetch(`${daemon.url}/openapi/v1/runs/${hanging.headers.get('x-run-id')}/stream`, {
    headers: { 'x-api-key': daemon.apiKey, 'last-event-id': lastId },
  });
  const words = await rejoined.text();
  expect(words).toContain('the whole answer');
  expect(words).toContain('event: message_stop');
  model.enqueue(call('read_file', { path: '/site/index.html' }), { text: 'Read.' });
  await say(daemon, 'read it', sessionId);
  expect(JSON.stringify(model.requests.at(-1)!.body)).toContain('<h1>Tides</h1>');
  expect(await (await fetch(file)).text()).toBe('<h1>Tides</h1>');
  const share = await fetch(`${daemon.url}/share/${page.latest_share_code}`);
  expect([share.status, await share.text()]).toEqual([200, expect.stringContaining('Tides')]);
  expect(await errand('audit', 'verify')).toContain('intact');

  await expect(errand('backup', 'restore', place, '--to', daemon.dataDir)).rejects.toThrow('is not an empty directory');
  expect(await errand('backup', 'verify', place)).toContain('is intact');
  const objects = join(place, 'objects');
  const shard = join(objects, readdirSync(objects)[0]!);
  const object = join(shard, readdirSync(shard)[0]!);
  writeFileSync(object, Buffer.concat([readFileSync(object).subarray(1), Buffer.from('!')]));
  await expect(errand('backup', 'verify', place)).rejects.toThrow('is not as it was made');
});

describe('as docs/BACKUPS.md has it', () => {
  const { block, blocks, tried, untried } = openTriedDocument(ROOT, 'docs/BACKUPS.md');
  const ends: (() => void | Promise<void>)[] = [];
  let fixture: Awaited<ReturnType<typeof drillFixture>>;
  let paste: (text: string) => Promise<string>;

  beforeAll(async () => {
    const of = { onTestFinished: (end: () => void | Promise<void>) => void ends.unshift(end) };
    fixture = await drillFixture(of);
    const reader = openReader(fixture.daemon, of);
    const locations = {
      '/mnt/backup/errand': fixture.place,
      '/root/backup-passphrase': join(fixture.directory, 'passphrase'),
    };
    paste = (text) =>
      reader.paste(Object.entries(locations).reduce((all, [name, own]) => all.replaceAll(name, own), text));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('a daemon that is killed in the middle of a backup leaves none, and makes the next one', async () => {
    const { model, daemon, place, errand } = fixture;
    model.script({ text: 'Done.' });
    const sessionId = await say(daemon, 'begin');
    const folder = join(daemon.dataDir, 'workspaces', sessionId, 'many');
    mkdirSync(folder, { recursive: true });
    for (let i = 0; i < 2_000; i += 1) writeFileSync(join(folder, `${i}.txt`), `file ${i}`);
    // All of it is a hole, which takes no space, and much longer to read than this test may.
    const endless = join(folder, 'endless');
    writeFileSync(endless, '');
    truncateSync(endless, 8 * 2 ** 40);
    const begun = errand('backup', 'create', '--to', place);
    await waitFor(
      () => {
        try {
          return readdirSync(join(place, 'incoming')).length > 1;
        } catch {
          return false;
        }
      },
      { everyMs: 1 },
    );
    await daemon.kill();
    await expect(begun).rejects.toThrow();
    rmSync(endless);
    expect(JSON.parse(await errand('backup', 'list', place, '-o', 'json'))).toEqual({ items: [], total: 0 });
    await daemon.restart();
    const printed = await paste(block('errand backup verify /mnt').text);
    expect(printed).toMatch(/is intact: 2\d{3} files/);
    expect(printed.match(/^\d{8}T\d{6}Z-/gm)).toHaveLength(1);
  });

  test('an archive, the master key, a restore and a removal', async () => {
    const { daemon, directory, place, errand } = fixture;
    const archive = join(directory, 'errand.tar');
    await paste(block('ssh vault').text.replace("ssh vault 'cat > errand.tar'", `cat > ${archive}`));
    await paste(block('--with-master-key').text);
    const target = join(directory, 'restored');
    for (const [source, restored] of [
      [place, target],
      [archive, `${target}.tar`],
    ] as const) {
      const line = block('--to /srv/errand').text.trimEnd().replace('/srv/errand', restored);
      // The newest backup there has the master key; the one of the archive hasn't.
      const typed = source === place ? ' --passphrase-file /root/backup-passphrase' : '';
      await paste(`${line.replace('/mnt/backup/errand', source)}${typed}`);
    }
    const key = (dataDir: string) => readFileSync(join(dataDir, 'master.key'), 'hex');
    expect(key(target)).toBe(key(daemon.dataDir));
    expect(existsSync(join(`${target}.tar`, 'master.key'))).toBe(false);
    const pruned = await errand('backup', 'prune', place, '--keep-days', '0', '--keep', '1', '-o', 'json');
    expect(JSON.parse(pruned)).toMatchObject({ kept: 1 });
  });

  test('the settings are read, and nothing else is shown', async () => {
    const config = temporaryDirectory({ 'errand.yaml': block('keep_days: 14').text });
    expect(await paste(`errand config check --config-dir ${config}`)).not.toContain('problem');
    // In scripts/package/prove and scripts/systemd: they change the system.
    for (const one of blocks) if (/^(systemctl|\[Service\])/.test(one.text)) tried(one);
    expect(untried()).toEqual([]);
  });
});
