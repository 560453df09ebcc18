// Runs whose files a lost node has not collected: nobody else can, so their artifacts fail once the node had time to come back (L5).
import { makeService, type Service } from '../../../services/service.ts';
import type { ArtifactParts } from '../artifact-parts.ts';

export interface LostWorkspaces {
  /** Concludes the runs of a session at once, if its node was lost: another one needs its workspace. Returns whether there were any. */
  conclude(sessionSeq: number): Promise<boolean>;
  /** Looks for those of nodes that were lost for long. Wake it at the start, and when a node was removed. */
  readonly service: Service;
}

/** For so long, a node that was lost may come back and collect by itself. */
const SILENT_MS = 120_000;
const LOOK_MS = 30_000;

type Parts = Pick<ArtifactParts, 'store' | 'removal' | 'clock' | 'log'> & {
  /** The files of a session are known now. */
  concluded(sessionSeq: number): void;
};

export function makeLostWorkspaces({ store, removal, clock, log, concluded }: Parts): LostWorkspaces {
  async function conclude(sessionSeq: number, silentMs: number): Promise<boolean> {
    const { runs, replacedKeys } = await store.artifacts.concludeLost(sessionSeq, silentMs);
    if (runs === 0) return false;
    log.warn({ session: sessionSeq, runs }, 'files of runs were lost with the node that had them');
    concluded(sessionSeq);
    await removal.remove(replacedKeys);
    return true;
  }

  async function work(stopping: AbortSignal): Promise<number> {
    for (const sessionSeq of await store.artifacts.listLost(SILENT_MS)) {
      if (stopping.aborted) break;
      await conclude(sessionSeq, SILENT_MS);
    }
    return LOOK_MS;
  }

  return {
    conclude: (sessionSeq) => conclude(sessionSeq, 0),
    service: makeService({ work, failure: 'the runs of lost nodes could not be concluded', clock, log }),
  };
}
