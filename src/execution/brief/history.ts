// The earlier turns of a run: the newest summary of its session, and the turns since.
import type { Compaction } from '../../agent/port/protocol.ts';
import type { ClaimedRun } from '../../store/lifecycle/start-run.ts';
import type { Store } from '../../store/open-store.ts';
import { DOCUMENT_BYTES, ownBytesOf } from './brief-room.ts';
import type { EarlierTurns } from '../../store/sessions/earlier-turns.ts';
import type { StoredTurn } from '../../store/sessions/stored-turn.ts';

export interface History {
  readonly compaction: Compaction | null;
  /** Oldest first. */
  readonly turns: readonly StoredTurn[];
  /** Whether older turns were omitted for lack of room. */
  readonly isCut: boolean;
}

/** A step's rows contain texts twice, and a character may have several bytes. */
const BYTES_PER_CHARACTER = 2;

/** The limits of a history. */
export interface HistoryRoom {
  /** Approximate limit of characters that a model reads. */
  readonly characters: number;
  /** Limit together with the run's own turn of this size in bytes, which is never cut. */
  bytesFor(ownBytes: number): number;
}

const NO_TURNS: EarlierTurns = { turns: [], isCut: false };

/** Reads the history of a claimed run: as many of the newest turns as fit, without those that a summary covers. */
export async function historyOf(
  store: Pick<Store, 'turns' | 'compactions'>,
  run: ClaimedRun,
  { characters, bytesFor }: HistoryRoom,
): Promise<History> {
  const { turns, compactions } = store;
  // Nothing precedes the run, unless an earlier attempt has left a summary of its own steps.
  if (run.opensSession && run.attempt <= 1) return { compaction: null, ...NO_TURNS };
  const own = await ownBytesOf(store, run);
  const left = Math.max(0, bytesFor(own) - own);
  const budget = {
    characters,
    bytes: Math.min(left, characters * BYTES_PER_CHARACTER),
    documentBytes: DOCUMENT_BYTES,
  };
  const newest = await compactions.findNewest(run.sessionSeq);
  if (newest === undefined) {
    const all = run.opensSession ? NO_TURNS : await turns.listHistory(run.sessionSeq, run.seq, budget);
    return { compaction: null, ...all };
  }
  const { runSeq, step, summary } = newest;
  if (runSeq === run.seq) return { compaction: { summary, step }, ...NO_TURNS };
  const since = await turns.listHistory(run.sessionSeq, run.seq, { ...budget, fromRunSeq: runSeq });
  const rest = since.turns.map((turn) =>
    turn.runSeq === runSeq ? { ...turn, steps: turn.steps.filter((one) => one.step > step) } : turn,
  );
  return { compaction: { summary, step: 0 }, turns: rest, isCut: since.isCut };
}
