// Versions across kill -9 of the real daemon: each is there whole or not at all, and is reported once.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startHookReceiver } from '../../support/http/hook-receiver.ts';
import { type Json, type Reply, startPublishedFixture } from '../../support/publishing/published-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** More than are copied in one commit. */
const FILES = 700;
const KILLS = 4;
/** Of each page; together as many as one owner may have in progress. */
const RELEASES = 4;

test('what was released is whole after kill -9, what was not is nowhere, and numbers have no gaps', {
  tags: ['§6.5-publish_page.published', 'F1-copy', 'F7-versions'],
}, async () => {
  const receiver = await startHookReceiver();
  const fixture = await startPublishedFixture({
    errandYaml: `egress: { allow: [{ cidr: 127.0.0.1/32, ports: [${receiver.port}], for: [webhook] }] }\n`,
  });
  const { daemon, mara } = fixture;
  onTestFinished(async () => {
    await daemon.close();
    await receiver.off();
  });
  await daemon.admin('POST', '/api/v1/webhooks', {
    name: 'pages',
    url: `${receiver.url}/hook`,
    events: ['publish_page.published'],
    owner_scope: 'system',
    retry_backoff_ms: 100,
  });
  const session = await fixture.write(mara, { '/site/index.html': '<h1>Tides</h1>' });
  const folder = join(daemon.dataDir, 'workspaces', session, 'site/files');
  mkdirSync(folder);
  for (let i = 0; i < FILES; i += 1) writeFileSync(join(folder, `${i}.txt`), `file ${i}`);
  await fixture.write(mara, { '/small/index.html': '<h1>Small</h1>' }, session);

  const entries = { large: '/site/index.html', small: '/small/index.html' };
  const pages: Record<string, string> = {};
  const acknowledged: Record<string, string[]> = { large: [], small: [] };
  for (const [name, entryPath] of Object.entries(entries)) {
    const body = { name, session_id: session, entry_path: entryPath };
    const { data } = await fixture.manage(mara, 'POST', '/publishes', body);
    pages[name] = data.publish_key;
    acknowledged[name]!.push(data.latest_share_code);
  }

  for (let kill = 0; kill < KILLS; kill += 1) {
    let replies = 0;
    const releases = Object.keys(pages).flatMap((name) =>
      Array.from({ length: RELEASES }, async () => {
        const reply = await fixture
          .manage(mara, 'POST', `/publishes/${pages[name]}/versions`, {})
          .catch(() => undefined);
        if (reply === undefined) return;
        replies += 1;
        expect(reply.status).toBe(201);
        acknowledged[name]!.push(reply.data.share_code);
      }),
    );
    // Another moment each time: as soon as some of them have been confirmed.
    await waitFor(() => replies > kill, { everyMs: 1 });
    await daemon.kill();
    await Promise.all(releases);
    await daemon.restart();
  }

  const codes = new Set<string>();
  for (const [name, key] of Object.entries(pages)) {
    const { data } = await fixture.manage(mara, 'GET', `/publishes/${key}/versions?limit=500`);
    const numbers = data.items.map((one: Json) => one.version_no);
    expect(numbers).toEqual(Array.from({ length: data.total }, (_, i) => data.total - i));
    const listed: string[] = data.items.map((one: Json) => one.share_code);
    expect(listed).toEqual(expect.arrayContaining(acknowledged[name]!));
    for (const { share_code: code, version_no: no, file_count: count } of data.items) {
      codes.add(code);
      const tree = await fixture.read(`/api/v1/public/publishes/${key}/versions/${no}/files`);
      expect([name, no, count, filesIn(tree.data)]).toEqual([name, no, name === 'large' ? FILES + 1 : 1, count]);
      const last: Reply = await fixture.read(`/api/v1/public/shares/${code}/assets/files/${FILES - 1}.txt`);
      expect([name, no, last.status]).toEqual([name, no, name === 'large' ? 200 : 404]);
    }
  }
  await waitFor(() => told(receiver.received).size === codes.size, { what: 'every version is reported' });
  const events = new Map(receiver.received.map(({ eventId, body }) => [eventId, codeIn(body)]));
  expect([...events.values()].toSorted()).toEqual([...codes].toSorted());
});

const codeIn = (body: Buffer): string => JSON.parse(body.toString()).version.share_code;
const told = (received: readonly { readonly body: Buffer }[]) => new Set(received.map(({ body }) => codeIn(body)));

function filesIn(nodes: Json): number {
  return nodes.reduce((sum: number, { children }: Json) => sum + (children === null ? 1 : filesIn(children)), 0);
}
