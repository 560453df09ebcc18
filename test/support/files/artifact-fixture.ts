// A store, blobs, a snapshot thread and workspaces on a real directory, for the tests of what is kept of runs.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Settings } from '../../../src/domain/settings.ts';
import { type Collector, type CollectorParts, makeCollector } from '../../../src/execution/artifacts/collector.ts';
import { openBlobStore } from '../../../src/files/blobs/blobs.ts';
import { makeSnapshotThread } from '../../../src/files/snapshots/snapshot-thread.ts';
import { makeWorkspaces } from '../../../src/files/workspaces.ts';
import { makeLog } from '../../../src/log/log.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import type { Ending, WorkspaceUse } from '../../../src/store/lifecycle/end-run.ts';
import { SETTINGS } from '../http/http-fixture.ts';
import { fenceOf, storeFixture } from '../store/store-fixture.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { runArtifactsOf, workspaceOf } from '../store/read-whole.ts';

export const COMPLETED: Ending = { outcome: 'completed', answer: '', stopReason: 'end_turn' };

export type ArtifactFixture = Awaited<ReturnType<typeof artifactFixture>>;

/** The clock of the store and of the collector is a fake one; the snapshot thread's deadlines run on the real one. */
export async function artifactFixture() {
  const fixture = await storeFixture();
  const directory = temporaryDirectory();
  const log = makeLog({ level: 'silent' as Settings['log']['level'] });
  const blobs = await openBlobStore(join(directory, 'blobs'), fixture.store.smallBlobs);
  const anotherThread = () => {
    const locations = { directory: join(directory, 'snapshots'), blobs: join(directory, 'blobs') };
    const thread = makeSnapshotThread({ ...locations, readSmall: blobs.readSmall, clock: systemClock, log });
    onTestFinished(thread.stop);
    return thread;
  };
  const snapshotThread = anotherThread();
  const workspaces = makeWorkspaces({ directory: join(directory, 'workspaces'), blobs, owner: null });
  const settings: Settings = {
    ...SETTINGS,
    artifacts: { deadlineSeconds: 30, maxFileMb: 8, maxFiles: 1_000, maxTotalMb: 64 },
  };
  const parts: CollectorParts = {
    wantsRoom: () => undefined,
    store: fixture.store,
    snapshotThread,
    blobs,
    workspaces,
    here: null,
    // Most tests want archives to be packed after the run.
    packedOnRequest: { fileCount: 0, totalBytes: 0 },
    clock: fixture.clock,
    log,
    settings: () => settings,
    happened: () => undefined,
  };
  return {
    ...parts,
    ...fixture,
    directory,
    parts,
    workspaces,
    /** A snapshot thread that has seen nothing. */
    anotherThread,
    /** A collector over the fixture's parts, or others in their place; it stops with the test. */
    collect: (over: Partial<CollectorParts> = {}): Collector => {
      const collector = makeCollector({ ...parts, ...over });
      onTestFinished(collector.stop);
      return collector;
    },
    /** A run that has been claimed, in a session of its own or in one that is there. */
    begin: async (sessionId: string | null = null): Promise<ClaimedRun> => {
      await fixture.accept({ sessionId });
      return (await fixture.claim())[0]!;
    },
    end: async (run: ClaimedRun, ending: Ending = COMPLETED, use: WorkspaceUse = {}): Promise<void> => {
      await fixture.store.runs.finalize(fenceOf(run), ending);
      await fixture.store.runs.settle(fenceOf(run), use);
    },
    /** Writes files into a run's workspace; null removes one. */
    write: (run: Pick<ClaimedRun, 'sessionId'>, files: Readonly<Record<string, string | null>>): void => {
      for (const [path, content] of Object.entries(files)) {
        const whole = join(workspaces.pathOf(run.sessionId), path);
        mkdirSync(dirname(whole), { recursive: true });
        if (content === null) rmSync(whole);
        else writeFileSync(whole, content);
      }
    },
    /** Keys of every blob. */
    blobKeys: (): string[] => {
      const root = join(directory, 'blobs');
      const files = readdirSync(root)
        .filter((shard) => shard.length === 2)
        .flatMap((shard) => readdirSync(join(root, shard)));
      const rows = fixture.rows<{ key: string }>('SELECT key FROM small_blobs').map(({ key }) => key);
      return [...files, ...rows].sort();
    },
    artifactsOf: (run: Pick<ClaimedRun, 'seq'>) => runArtifactsOf(fixture.store.artifacts, run.seq),
    exportOf: (run: Pick<ClaimedRun, 'sessionSeq'>) => workspaceOf(fixture.store.artifacts, run.sessionSeq),
  };
}
