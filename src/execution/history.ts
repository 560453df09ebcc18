// What a run is told of the turns before it: the newest summary of its session, and the turns since.
import type { Compaction } from '../agent/protocol.ts';
import type { ClaimedRun } from '../store/claim-runs.ts';
import type { Store } from '../store/open-store.ts';
import type { StoredTurn } from '../store/turns.ts';

export interface History {
  readonly compaction: Compaction | null;
  /** Oldest first. */
  readonly turns: readonly StoredTurn[];
}

/** Reads the history of a claimed run: as many of the newest turns as about `characters` allow, none that a summary stands for. */
export async function historyOf(
  { turns, compactions }: Pick<Store, 'turns' | 'compactions'>,
  run: ClaimedRun,
  characters: number,
): Promise<History> {
  // Nothing comes before the run, unless an earlier attempt has left a summary of its own steps.
  if (run.opensSession && run.attempt <= 1) return { compaction: null, turns: [] };
  const newest = await compactions.findNewest(run.sessionSeq);
  if (newest === undefined) {
    const all = run.opensSession ? [] : await turns.listBefore(run.sessionSeq, run.seq, { characters });
    return { compaction: null, turns: all };
  }
  const { runSeq, step, summary } = newest;
  if (runSeq === run.seq) return { compaction: { summary, step }, turns: [] };
  const since = await turns.listBefore(run.sessionSeq, run.seq, { characters, fromRunSeq: runSeq });
  const left = since.map((turn) =>
    turn.runSeq === runSeq ? { ...turn, steps: turn.steps.filter((one) => one.step > step) } : turn,
  );
  return { compaction: { summary, step: 0 }, turns: left };
}
