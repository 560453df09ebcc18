// Publishing while the collector replaces files: a version holds one state of the workspace, and all of its bytes.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { makeVersions } from '../../src/publishing/versions.ts';
import { artifactFixture } from '../support/files/artifact-fixture.ts';
import { aPage, MANUAL, requirePublished } from '../support/store/publishing.ts';

const FILES = 260;
const GENERATIONS = 4;

test('versions that are published while files are replaced hold one state each, with all their bytes', async () => {
  const fixture = await artifactFixture();
  const { store, blobs, clock } = fixture;
  const collector = fixture.collect();
  const versions = makeVersions({
    store,
    blobs,
    hasPeers: false,
    disk: { shortage: () => null },
    onCollected: collector.onCollected,
    happened: () => undefined,
    clock,
    settings: () => ({ publish: { maxFiles: 5_000, maxTotalMb: 500 } }),
  });

  /** A run that replaces every file, and does not wait for the collector. */
  async function replaceAll(generation: number, sessionId: string | null) {
    const run = await fixture.begin(sessionId);
    const files = Array.from({ length: FILES }, (_, index) => [`site/${index}.txt`, `${generation} ${index}`]);
    fixture.write(run, {
      'site/index.html': `${generation}`,
      ...(Object.fromEntries(files) as Record<string, string>),
    });
    await fixture.end(run);
    collector.wake(run.sessionSeq);
    return run;
  }

  const { sessionSeq, sessionId } = await replaceAll(0, null);
  const source = { sessionSeq, entryPath: '/site/index.html' };
  const page = aPage(fixture.user.seq, { sessionSeq });
  const { key } = requirePublished(await versions.publish(source, { ...MANUAL, page }));
  const { id } = (await store.pages.find(key, clock.now()))!;

  let isOver = false;
  const publishing = (async () => {
    while (!isOver) {
      await versions.attempt(source, { ...MANUAL, page: { id } });
      // Without files to copy, an attempt takes no turn of the event loop.
      await nextTurn();
    }
  })();
  try {
    for (let generation = 1; generation < GENERATIONS; generation += 1) {
      const run = await replaceAll(generation, sessionId);
      await vi.waitUntil(
        async () => !(await store.artifacts.findBefore(sessionSeq, run.seq + 1)).isUncollected,
        20_000,
      );
    }
  } finally {
    isOver = true;
  }
  await publishing;
  await collector.stop();

  const { items } = await store.shares.list({ userSeq: null, pageId: id, limit: 1_000, offset: 0 }, clock.now());
  const onDisk = new Set(fixture.blobKeys());
  const generations = new Set<string>();
  for (const { seq } of items) {
    const files = await store.manifests.listFiles(seq, '/', 9_999);
    expect(files).toHaveLength(FILES + 1);
    expect(files.filter(({ sha256 }) => !onDisk.has(sha256))).toEqual([]);
    const texts = await Promise.all(files.map(async ({ sha256 }) => (await blobs.read(sha256)).toString()));
    const found = new Set(texts.map((text) => text.split(' ')[0]!));
    expect(found.size).toBe(1);
    generations.add([...found][0]!);
  }
  expect(items.length).toBeGreaterThan(GENERATIONS);
  expect(generations.size).toBeGreaterThan(GENERATIONS / 2);
});
