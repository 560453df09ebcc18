// The workspace of one run as its tools use it: created before the first change, at rest after the last call.
import { makeRoot } from '../../disk/make-beneath.ts';
import type { Brief } from '../port/protocol.ts';
import { noteNew } from '../sandbox/workspace-room.ts';

/** The state of a run's workspace. A sub-agent has its own. */
export interface RunWorkspace {
  /** Creates the directory, for what may change it: a session has none until then. */
  prepare(): Promise<void>;
  /** Whether nothing that may change it was begun. */
  isUntouched(): boolean;
  /** Records a started execution; a run executes one call at a time. */
  begun(execution: Promise<unknown>): void;
  /** Resolves when no tool of the run is executing any more, not even one that ignored its signal and was abandoned. */
  atRest(): Promise<void>;
}

/** Opens the workspace of a run. Nothing is made on the disk yet. `announce` is awaited before what is to be announced. */
export function openWorkspace(
  { workspace, workspaceOwner, announces }: Pick<Brief, 'workspace' | 'workspaceOwner' | 'announces'>,
  announce: () => Promise<void> = async () => undefined,
): RunWorkspace {
  let [isUntouched, isThere, newest] = [true, false, Promise.resolve()];
  return {
    prepare: async () => {
      if (announces === 'each' || (announces === 'first' && isUntouched)) await announce();
      isUntouched = false;
      if (isThere) return;
      if (await makeRoot(workspace, workspaceOwner)) noteNew(workspace);
      isThere = true;
    },
    isUntouched: () => isUntouched,
    begun: (execution) => {
      const over = () => undefined;
      newest = execution.then(over, over);
    },
    atRest: () => newest,
  };
}
