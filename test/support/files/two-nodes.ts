// Two nodes on one store, with blobs in common as in a bucket: each has workspaces and a collector of its own.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { CollectorParts } from '../../../src/execution/artifacts/collector.ts';
import { makeSnapshotThread } from '../../../src/files/snapshots/snapshot-thread.ts';
import { makeWorkspaces } from '../../../src/files/workspaces.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { aNode } from '../store/nodes.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { artifactFixture } from './artifact-fixture.ts';

export type TwoNodes = Awaited<ReturnType<typeof twoNodes>>;
export type NodeFixture = TwoNodes['north'];

/** The fixture, and its nodes. Both have beaten once. */
export async function twoNodes() {
  const fixture = await artifactFixture();
  const { store } = fixture;

  async function node(id: string, over: Partial<CollectorParts> = {}) {
    const directory = temporaryDirectory();
    const snapshotThread = makeSnapshotThread({
      directory: join(directory, 'snapshots'),
      blobs: join(fixture.directory, 'blobs'),
      readSmall: fixture.blobs.readSmall,
      clock: systemClock,
      log: fixture.log,
    });
    onTestFinished(snapshotThread.stop);
    const workspaces = makeWorkspaces({ directory: join(directory, 'workspaces'), blobs: fixture.blobs, owner: null });
    const parts: CollectorParts = { ...fixture.parts, here: id, snapshotThread, workspaces, ...over };
    const facts = aNode({ id, name: id });
    await store.nodes.beat(facts, null);
    return {
      id,
      directory,
      parts,
      workspaces,
      snapshotThread,
      collector: fixture.collect(parts),
      /** A run of a session that this node claims; it does not wait for others, and lays nothing out. */
      begin: async (sessionId: string | null = null): Promise<ClaimedRun> => {
        await fixture.accept({ sessionId });
        return (await fixture.claim(1, { node: id }))[0]!;
      },
      /** Writes files into a run's workspace here; null removes one. */
      write: (run: Pick<ClaimedRun, 'sessionId'>, files: Readonly<Record<string, string | null>>): void => {
        for (const [path, content] of Object.entries(files)) {
          const whole = join(workspaces.pathOf(run.sessionId), path);
          mkdirSync(dirname(whole), { recursive: true });
          if (content === null) rmSync(whole);
          else writeFileSync(whole, content);
        }
      },
      /** Its process is lost, and others have noticed. */
      lose: async (): Promise<void> => {
        const row = (await store.nodes.list()).find((one) => one.id === id)!;
        await store.nodes.takeOver(row);
      },
      beat: async (): Promise<void> =>
        void (await store.nodes.beat({ ...facts, process: `later ${id}` }, facts.process)),
    };
  }

  return { ...fixture, north: await node('north'), south: await node('south') };
}
