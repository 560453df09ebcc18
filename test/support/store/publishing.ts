// Pages and their versions over a real store, for the tests of what is published.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FileVersion } from '../../../src/domain/sessions/artifact.ts';
import { openBlobsInFiles } from '../files/blobs-in-files.ts';
import type { Shortage } from '../../../src/files/disk.ts';
import { makeVersions, type VersionOutcome } from '../../../src/publishing/versions.ts';
import { openRows } from './open-store.ts';
import type { Transaction } from '../../../src/store/engine/statement.ts';
import { type CompletedFiring, enqueueJobsIn } from '../../../src/store/publishing/jobs.ts';
import type { NewPage, Published } from '../../../src/store/publishing/versions.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { fenceOf, type StoreFixture, storeFixture } from './store-fixture.ts';
import { recordWhole } from './read-whole.ts';

/** A page on the board, with other fields where they are given. */
export function aPage(userSeq: number, source: NewPage['source'], over: Partial<NewPage> = {}): NewPage {
  return {
    userSeq,
    name: 'Tides',
    description: null,
    category: null,
    tags: [],
    entryPath: '/site/index.html',
    isOnBoard: true,
    isDistractionFree: false,
    source,
    ...over,
  };
}

/** Adds the jobs of a firing, as the verb that ends one does, beside the store. */
export async function enqueue({ file, clock }: Pick<StoreFixture, 'file' | 'clock'>, firing: CompletedFiring) {
  const database = openRows(file, clock);
  onTestFinished(() => database.close());
  await database.write((tx: Transaction) => enqueueJobsIn(tx, firing))();
}

/** Files of these paths. The content of each is its path, unless another key is given; each has one byte. */
export const filesOf = (...paths: (string | readonly [path: string, sha256: string])[]): FileVersion[] =>
  paths.map((path) =>
    typeof path === 'string' ? { path, size: 1, sha256: path } : { path: path[0], size: 1, sha256: path[1] },
  );

export const SITE = filesOf('/site/index.html', '/site/style.css', '/site/img/moon.png', '/notes.txt');
export const MANUAL = { trigger: 'manual', reason: null, jobId: null } as const;

/** A store with blobs, and versions over both. */
export async function publishFixture(given?: StoreFixture) {
  const fixture = given ?? (await storeFixture());
  const directory = join(temporaryDirectory(), 'blobs');
  mkdirSync(directory);
  const blobs = await openBlobsInFiles(directory);
  const listeners = new Set<(sessionSeq: number) => void>();
  const limits = { maxFiles: 5_000, maxTotalMb: 500 };
  const abandoned: number[] = [];
  let shortage: Shortage | null = null;
  const versions = makeVersions({
    store: fixture.store,
    blobs,
    onCollected: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    hasPeers: false,
    disk: { shortage: () => shortage },
    happened: (occasion) => {
      if (occasion === 'draft abandoned') abandoned.push(1);
    },
    clock: fixture.clock,
    settings: () => ({ publish: limits }),
  });
  const end = async (run: ClaimedRun) => {
    await fixture.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await fixture.store.runs.settle(fenceOf(run));
  };
  return {
    ...fixture,
    blobs,
    directory,
    versions,
    limits,
    abandoned,
    /** Says what is wrong with the disk from now on. */
    setShortage: (found: Shortage | null) => void (shortage = found),
    /** How many wait for files to become known. */
    listeners,
    /** The collector has looked at a session. */
    collected: (sessionSeq: number) => {
      for (const listener of listeners) listener(sessionSeq);
    },
    end,
    /** A run that has ended and whose files are not known yet. */
    uncollected: async (sessionId: string | null = null): Promise<ClaimedRun> => {
      const { seq } = await fixture.accept({ sessionId });
      const run = (await fixture.claim(99)).find((claimed) => claimed.seq === seq)!;
      await end(run);
      return run;
    },
    /** A run that has left these files, in a session of its own or in one that is there. */
    async workspace(files: readonly FileVersion[] = SITE, sessionId: string | null = null): Promise<ClaimedRun> {
      const run = await this.uncollected(sessionId);
      await recordWhole(fixture.store.artifacts, run, { files, skipped: {} });
      return run;
    },
    /** Publishes the first version of a new page. */
    async publish(
      { sessionSeq }: Pick<ClaimedRun, 'sessionSeq'>,
      over: Partial<NewPage> = {},
    ): Promise<Published & { readonly id: number }> {
      const page = aPage(fixture.user.seq, { sessionSeq }, over);
      const published = requirePublished(
        await versions.attempt({ sessionSeq, entryPath: page.entryPath }, { ...MANUAL, page }),
      );
      return { ...published, id: (await fixture.store.pages.find(published.key, fixture.clock.now()))!.id };
    },
    /** Publishes another version of a page. */
    async release(id: number, { sessionSeq }: Pick<ClaimedRun, 'sessionSeq'>, entryPath = '/site/index.html') {
      return requirePublished(await versions.attempt({ sessionSeq, entryPath }, { ...MANUAL, page: { id } }));
    },
    enqueue: (firing: CompletedFiring) => enqueue(fixture, firing),
    page: (key: string) => fixture.store.pages.find(key, fixture.clock.now()),
    share: (code: string) => fixture.store.shares.find(code, fixture.clock.now()),
    filesOfShare: async (code: string) => {
      const share = (await fixture.store.shares.find(code, fixture.clock.now()))!;
      return (await fixture.store.manifests.listFiles(share.seq, '/', 9_999)).map(({ path }) => path);
    },
    /** How many rows a table has. */
    count: (table: string) => fixture.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]!.n,
  };
}

export function requirePublished(outcome: VersionOutcome): Published {
  if (outcome.kind !== 'published') throw new Error(JSON.stringify(outcome));
  return outcome;
}
