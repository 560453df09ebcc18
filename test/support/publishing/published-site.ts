// A real daemon with a page of each kind, of which one has three versions, for tests of the public interface.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startPublishedFixture } from './published-fixture.ts';

const PUBLIC = '/api/v1/public';
export const HTML = '<!doctype html><title>Tides</title><link rel="stylesheet" href="style.css"><h1>Tides</h1>';
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const OWNER = { account: 'mara', name: 'mara Doe', department: 'Tides' };
/** What times, keys and codes look like. */
export const BEIJING = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
export const KEY = /^[0-9A-Za-z]{16}$/;
export const CODE = /^[0-9A-Za-z]{22}$/;

interface Made {
  readonly key: string;
  readonly code: string;
}

/** What the agent can't write with the offline engine's lines, put into the workspace between two turns. */
function addFiles(workspace: string): void {
  mkdirSync(join(workspace, 'site/sub'), { recursive: true });
  writeFileSync(join(workspace, 'site/moon.png'), PNG);
  writeFileSync(join(workspace, 'site/sub/a b%20#?.txt'), 'odd');
  writeFileSync(join(workspace, 'site/sub/é.txt'.normalize('NFC')), 'composed');
  writeFileSync(join(workspace, 'site/.secret'), 'hidden');
  symlinkSync('style.css', join(workspace, 'site/link.css'));
  writeFileSync(join(workspace, 'photo.png'), PNG);
  writeFileSync(join(workspace, 'sound.mp3'), Buffer.concat([Buffer.from('ID3'), Buffer.alloc(2_000, 7)]));
  writeFileSync(join(workspace, 'paper.pdf'), '%PDF-1.4\n%%EOF\n');
}

/** Starts it. `made` has the pages by the kind of their entry, `codes` those of the versions of the page, from the first. */
export async function startPublishedSite() {
  const fixture = await startPublishedFixture();
  const page = { '/site/index.html': HTML, '/site/style.css': 'h1 { color: teal }', '/site/sub/data.json': '{"a":1}' };
  const session = await fixture.write(fixture.mara, page);
  addFiles(join(fixture.daemon.dataDir, 'workspaces', session));
  await fixture.write(
    fixture.mara,
    {
      '/notes.md': '# Notes',
      '/notes/index.md': '# In a folder',
      '/plain.txt': 'plain',
      '/chart.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      '/feed.xml': '<?xml version="1.0"?><x/>',
      '/data.bin': 'binary',
    },
    session,
  );
  const read = (path: string, ask = {}) => fixture.read(PUBLIC + path, ask);
  const manage = (method: string, path: string, body?: unknown) => fixture.manage(fixture.mara, method, path, body);

  async function publish(fields: Readonly<Record<string, unknown>>): Promise<Made> {
    const created = await manage('POST', '/publishes', { session_id: session, ...fields });
    expect([fields, created.status, created.text]).toEqual([fields, 201, expect.any(String)]);
    return { key: created.data.publish_key, code: created.data.latest_share_code };
  }

  const made: Record<string, Made> = {};
  made['page'] = await publish({
    name: 'Tides 100%_\\É of "März"',
    description: 'High and low.',
    category: 'Reports',
    tags: ['sea', 'moon'],
    entry_path: '/site/index.html',
    public_to_board_enabled: true,
  });
  made['markdown'] = await publish({ name: 'Notes', entry_path: '/notes/index.md', public_to_board_enabled: true });
  made['image'] = await publish({ name: 'Photo', entry_path: '/photo.png' });
  made['audio'] = await publish({ name: 'Sound', entry_path: '/sound.mp3' });
  made['text'] = await publish({ name: 'Plain', entry_path: '/plain.txt' });
  made['svg'] = await publish({ name: 'Chart', entry_path: '/chart.svg' });
  made['xml'] = await publish({ name: 'Feed', entry_path: '/feed.xml' });
  made['pdf'] = await publish({ name: 'Paper', entry_path: '/paper.pdf' });
  made['binary'] = await publish({ name: 'Data', entry_path: '/data.bin' });
  const codes: string[] = [made['page'].code];
  for (const reason of ['Second', 'Third']) {
    const released = await manage('POST', `/publishes/${made['page'].key}/versions`, { reason });
    expect(released.status).toBe(201);
    codes.push(released.data.share_code);
  }
  return { fixture, made, codes, read, manage, publish, share: (name: string) => `/shares/${made[name]!.code}` };
}

export type PublishedSite = Awaited<ReturnType<typeof startPublishedSite>>;
