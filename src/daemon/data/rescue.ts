// Handles, at a start, what a crash left unfinished.
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Workspaces } from '../../files/workspaces.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';

export interface RescueParts {
  readonly store: Store;
  readonly workspaces: Workspaces;
  readonly stopper: Stopper;
  /** This one: what others have in progress is theirs. */
  readonly node: string;
  readonly log: Log;
}

/** Handles what a crash left unfinished. Only at a start, while no worker holds a run. */
export async function rescue({ store, workspaces, stopper, node, log }: RescueParts): Promise<void> {
  // First, so that a crash during this finds the same sessions again.
  for (const sessionId of await store.runs.listExecutingSessions(node)) {
    await workspaces.tidy(sessionId).catch((error: unknown) => {
      log.error({ session_id: sessionId, err: error }, 'files that the crash left half-written could not be removed');
    });
  }
  const rescued = await store.runs.rescue(node);
  // A crash may have happened between the disabling of a user and the end of the user's last run.
  await stopper.stopDisabled();
  if (rescued.settled + rescued.interrupted > 0) log.info(rescued, 'unfinished runs were rescued');
}
