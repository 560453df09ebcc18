// The workspace of one run as its tools use it: created before the first change, at rest after the last call.
import { makeRoot } from '../../disk/make-beneath.ts';
import type { Brief } from '../port/protocol.ts';

/** The state of a run's workspace. A sub-agent has its own. */
export interface RunWorkspace {
  /** Creates the directory, for what may change it: a session has none until then. */
  prepare(): Promise<void>;
  /** Whether a tool of the run may have changed it. */
  isTouched(): boolean;
  /** Records a started execution; a run executes one call at a time. */
  begun(execution: Promise<unknown>): void;
  /** Resolves when no tool of the run is executing any more, not even one that ignored its signal and was abandoned. */
  atRest(): Promise<void>;
}

/** Opens the workspace of a run. Nothing is made on the disk yet. */
export function openWorkspace({
  workspace,
  workspaceOwner,
}: Pick<Brief, 'workspace' | 'workspaceOwner'>): RunWorkspace {
  let isThere = false;
  let newest: Promise<void> = Promise.resolve();
  return {
    prepare: async () => {
      if (isThere) return;
      await makeRoot(workspace, workspaceOwner);
      isThere = true;
    },
    isTouched: () => isThere,
    begun: (execution) => {
      const over = () => undefined;
      newest = execution.then(over, over);
    },
    atRest: () => newest,
  };
}
