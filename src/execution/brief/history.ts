// What a run is told of the turns before it: the newest summary of its session, and the turns since.
import { MAX_SHOWN_CHARACTERS } from '../../agent/documents/excerpt.ts';
import type { Compaction } from '../../agent/port/protocol.ts';
import type { Settings } from '../../domain/settings.ts';
import type { ClaimedRun } from '../../store/runs/claim-runs.ts';
import type { Store } from '../../store/open-store.ts';
import type { EarlierTurns, StoredTurn } from '../../store/sessions/turns.ts';

export interface History {
  readonly compaction: Compaction | null;
  /** Oldest first. */
  readonly turns: readonly StoredTurn[];
  /** Whether there are older turns, for which there was no room. */
  readonly isCut: boolean;
}

const MEGABYTE = 1024 * 1024;
/** What no brief holds more of, however large its model's window is. */
const MAX_BYTES = 16 * MEGABYTE;
/** Of a thread's memory, what the briefs of all its runs may have: a brief is parsed, shown to a model and sent. */
const PART_OF_MEMORY = 1 / 4;
/** Texts stand twice in the rows of a step, and characters may have more bytes than one. */
const BYTES_PER_CHARACTER = 2;

/** No character has more in memory. */
const DOCUMENT_BYTES = 2 * MAX_SHOWN_CHARACTERS;

/** What a run's brief may hold of turns, its own among them: a thread has as many as it has runs. */
export function turnBytes({ memoryMb, runsPerThread }: Settings['workers']): number {
  return Math.min(MAX_BYTES, Math.floor((memoryMb * MEGABYTE * PART_OF_MEMORY) / runsPerThread));
}

/** What a history may have. */
export interface HistoryRoom {
  /** About so many of what a model reads. */
  readonly characters: number;
  /** Together with the run's own turn, which is never cut. */
  readonly bytes: number;
}

const NO_TURNS: EarlierTurns = { turns: [], isCut: false };

/** Reads the history of a claimed run: as many of the newest turns as there is room for, none that a summary stands for. */
export async function historyOf(
  { turns, compactions }: Pick<Store, 'turns' | 'compactions'>,
  run: ClaimedRun,
  { characters, bytes }: HistoryRoom,
): Promise<History> {
  // Nothing comes before the run, unless an earlier attempt has left a summary of its own steps.
  if (run.opensSession && run.attempt <= 1) return { compaction: null, ...NO_TURNS };
  const own = await turns.bytesOf({ ...run, documentBytes: DOCUMENT_BYTES });
  const left = Math.max(0, bytes - own);
  const budget = {
    characters,
    bytes: Math.min(left, characters * BYTES_PER_CHARACTER),
    documentBytes: DOCUMENT_BYTES,
  };
  const newest = await compactions.findNewest(run.sessionSeq);
  if (newest === undefined) {
    const all = run.opensSession ? NO_TURNS : await turns.listBefore(run.sessionSeq, run.seq, budget);
    return { compaction: null, ...all };
  }
  const { runSeq, step, summary } = newest;
  if (runSeq === run.seq) return { compaction: { summary, step }, ...NO_TURNS };
  const since = await turns.listBefore(run.sessionSeq, run.seq, { ...budget, fromRunSeq: runSeq });
  const rest = since.turns.map((turn) =>
    turn.runSeq === runSeq ? { ...turn, steps: turn.steps.filter((one) => one.step > step) } : turn,
  );
  return { compaction: { summary, step: 0 }, turns: rest, isCut: since.isCut };
}
