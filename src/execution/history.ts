// What a run is told of the turns before it: the newest summary of its session, and the turns since.
import type { Compaction } from '../agent/protocol.ts';
import type { ClaimedRun } from '../store/claim-runs.ts';
import type { Store } from '../store/open-store.ts';
import type { EarlierTurns, StoredTurn } from '../store/turns.ts';

export interface History {
  readonly compaction: Compaction | null;
  /** Oldest first. */
  readonly turns: readonly StoredTurn[];
  /** Whether there are older turns, for which there was no room. */
  readonly isCut: boolean;
}

/** What no brief holds more of, however large its model's window is: a thread has the briefs of many runs. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Texts stand twice in the rows of a step, and characters may have more bytes than one. */
const BYTES_PER_CHARACTER = 2;

const NO_TURNS: EarlierTurns = { turns: [], isCut: false };

/** Reads the history of a claimed run: as many of the newest turns as about `characters` allow, none that a summary stands for. */
export async function historyOf(
  { turns, compactions }: Pick<Store, 'turns' | 'compactions'>,
  run: ClaimedRun,
  characters: number,
): Promise<History> {
  // Nothing comes before the run, unless an earlier attempt has left a summary of its own steps.
  if (run.opensSession && run.attempt <= 1) return { compaction: null, ...NO_TURNS };
  const budget = { characters, bytes: Math.min(MAX_BYTES, characters * BYTES_PER_CHARACTER) };
  const newest = await compactions.findNewest(run.sessionSeq);
  if (newest === undefined) {
    const all = run.opensSession ? NO_TURNS : await turns.listBefore(run.sessionSeq, run.seq, budget);
    return { compaction: null, ...all };
  }
  const { runSeq, step, summary } = newest;
  if (runSeq === run.seq) return { compaction: { summary, step }, ...NO_TURNS };
  const since = await turns.listBefore(run.sessionSeq, run.seq, { ...budget, fromRunSeq: runSeq });
  const left = since.turns.map((turn) =>
    turn.runSeq === runSeq ? { ...turn, steps: turn.steps.filter((one) => one.step > step) } : turn,
  );
  return { compaction: { summary, step: 0 }, turns: left, isCut: since.isCut };
}
