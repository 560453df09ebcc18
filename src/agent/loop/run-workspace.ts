// The workspace of one run as its tools use it: created before the first change, at rest after the last call.
import { makeRoot } from '../../disk/make-beneath.ts';
import type { Brief, Touched } from '../port/protocol.ts';
import { noteNew } from '../sandbox/workspace-room.ts';

/** The state of a run's workspace. A sub-agent has its own. */
export interface RunWorkspace {
  /**
   * Creates the directory, for what may change it: a session has none until then. `paths`: the only files that it may change,
   * where that is known.
   */
  prepare(paths?: readonly string[]): Promise<void>;
  /** What the tools of the run may have changed. */
  touched(): Touched;
  /** Records a started execution; a run executes one call at a time. */
  begun(execution: Promise<unknown>): void;
  /** Resolves when no tool of the run is executing any more, not even one that ignored its signal and was abandoned. */
  atRest(): Promise<void>;
}

/** More paths than this are worth a look at everything. */
const MAX_PATHS = 256;

/**
 * Opens the workspace of a run. Nothing is made on the disk yet. `beforeAnything` is awaited before the first call that may
 * change any file, and gets the paths of the calls before it.
 */
export function openWorkspace(
  { workspace, workspaceOwner }: Pick<Brief, 'workspace' | 'workspaceOwner'>,
  beforeAnything: (paths: readonly string[]) => Promise<void> = async () => undefined,
): RunWorkspace {
  let isThere = false;
  let isAnything = false;
  const paths = new Set<string>();
  let [newest, executing]: [Promise<void>, number] = [Promise.resolve(), 0];
  return {
    prepare: async (changed) => {
      if (changed !== undefined && !isAnything && paths.size + changed.length <= MAX_PATHS) {
        for (const path of changed) paths.add(path);
      } else if (!isAnything) {
        await beforeAnything([...paths]);
        isAnything = true;
      }
      if (isThere) return;
      if (await makeRoot(workspace, workspaceOwner)) noteNew(workspace);
      isThere = true;
    },
    // A call that was abandoned may still write.
    touched: () => (isAnything || (executing > 0 && isThere) ? 'anything' : [...paths]),
    begun: (execution) => {
      executing += 1;
      const over = () => {
        executing -= 1;
      };
      newest = execution.then(over, over);
    },
    atRest: () => newest,
  };
}
