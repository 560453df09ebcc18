// The pauses between commits: under load, verbs gather in them for the next one.

/**
 * A commit that more verbs than these have shared shows that there is load: a run's last text, its reply and its end come together, and
 * verbs of two runs meet by chance.
 */
export const FEW_VERBS = 3;
/** The shortest pause under load: about the work of a commit that doesn't grow with its verbs. */
const MIN_PAUSE_MS = 2;
/** A stalled disk must not delay the next commit for longer than this. */
const MAX_PAUSE_MS = 20;

/** Returns the pause, in milliseconds, after a commit of so many verbs for which the disk took so long. */
export type Pauses = (diskMs: number, verbs: number) => number;

/**
 * Under load, the disk takes at most a third of the time, and a slow one never more than half: the slower it is, the more verbs share a
 * commit. One slow commit after a quick one is chance, and what came meanwhile has waited already. The work of the verbs themselves grows
 * with their number, so a pause for it would only make each commit block the loop for longer.
 */
export function makePauses(): Pauses {
  let lastMs = 0;
  return (tookMs, verbs) => {
    const diskMs = Math.min(tookMs, lastMs);
    lastMs = tookMs;
    return Math.min(verbs > FEW_VERBS ? Math.max(2 * diskMs, MIN_PAUSE_MS) : quietPause(diskMs), MAX_PAUSE_MS);
  };
}

const quietPause = (diskMs: number) => (diskMs < MIN_PAUSE_MS ? 0 : diskMs);
