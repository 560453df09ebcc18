// The workspace of one run as its tools use it: made before the first call, at rest after the last.
import { makeRoot } from '../../disk/make-beneath.ts';
import type { Brief } from '../port/protocol.ts';

/** What became of a run's workspace. A sub-agent has its own view of it. */
export interface RunWorkspace {
  /** Makes the directory: a session has none before its agent first uses a tool. */
  prepare(): Promise<void>;
  /** Whether a tool of the run may have changed it. */
  isTouched(): boolean;
  /** Notes an execution that has begun; a run performs one call at a time. */
  begun(execution: Promise<unknown>): void;
  /** Resolves when no tool of the run is at work any more, not even one that ignored its signal and was left behind. */
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
