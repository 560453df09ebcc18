// Notes for agents whose workspace was laid out anew: written in the commit that moves it, read with the turns that they belong to.
import { type AsOf, type LostCall, workspaceNote } from '../../domain/sessions/workspace-note.ts';
import type { Database } from '../engine/database.ts';
import { listed } from '../engine/listed.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { Fence } from '../runs/fence.ts';
import { knownUntil, newestStep, stateOf } from './workspace-state.ts';

/** What the agent of a run is told after one of its steps; 0: before the first. */
export interface WorkspaceNote {
  readonly runSeq: number;
  readonly step: number;
  readonly text: string;
}

/** Calls that a note names, the newest; of so many of the newest runs; and notes of a session that are read. */
const [MOST_CALLS, MOST_RUNS, MOST_NOTES] = [20, 20, 20];
/** What is read of a call's arguments: the one that tells is mostly among the first. */
const MOST_CHARACTERS = 2_000;

/** The verb that reads them. */
export function makeWorkspaceNotes({ read }: Database) {
  return {
    /** Those of a session, the newest. */
    listWorkspaceNotes: read(
      (tx: Reader, sessionSeq: number): Step<WorkspaceNote[]> =>
        tx.all<WorkspaceNote>(
          `SELECT run_seq, step, text FROM workspace_notes WHERE session_seq = ?
           ORDER BY run_seq DESC, attempt DESC LIMIT ${MOST_NOTES}`,
          sessionSeq,
        ),
      'committed',
    ),
  };
}

const LOST_CALLS = (marks: string) => `SELECT c.run_seq, c.step, c.name, substr(c.input, 1, ${MOST_CHARACTERS}) AS input
  FROM (SELECT seq FROM runs WHERE session_seq = ? AND seq >= ? AND seq <= ? ORDER BY seq DESC LIMIT ${MOST_RUNS}) AS latest
  JOIN tool_calls c ON c.run_seq = latest.seq
  WHERE c.state <> 'waiting' AND (c.run_seq > ? OR c.step > ?) AND c.name NOT IN (${marks})
  ORDER BY c.run_seq DESC, c.step DESC, c.position DESC LIMIT ${MOST_CALLS + 1}`;

/**
 * Notes for the agent of a run what its calls, and those of runs before it, have left in the workspace that was not recorded. Nothing when
 * there were no such calls. `reading`: names of tools that leave nothing. Returns whether there is a note.
 */
export function* noteLostCalls(
  tx: Transaction,
  { sessionSeq, runSeq, attempt }: Fence,
  reading: readonly string[],
): Step<boolean> {
  const state = yield* stateOf(tx, sessionSeq);
  const { asOfRun, asOfStep } = state;
  const from = knownUntil(state, { runSeq });
  const { marks, values } = listed(reading);
  const rows = yield* tx.all<Omit<LostCall, 'isOwn'> & { readonly runSeq: number }>(
    LOST_CALLS(marks),
    sessionSeq,
    from.run,
    runSeq,
    from.run,
    from.step,
    ...values,
  );
  if (rows.length === 0) return false;
  const calls = rows
    .slice(0, MOST_CALLS)
    .toReversed()
    .map((row) => ({ ...row, isOwn: row.runSeq === runSeq }));
  const asOf = asOfRun === null ? null : yield* momentOf(tx, { runSeq, asOfRun, asOfStep });
  const step = yield* newestStep(tx, runSeq);
  yield* tx.run(
    `INSERT INTO workspace_notes (session_seq, run_seq, attempt, step, text, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_seq, run_seq, attempt) DO UPDATE SET step = excluded.step, text = excluded.text`,
    sessionSeq,
    runSeq,
    attempt,
    step,
    workspaceNote(asOf, calls, rows.length > MOST_CALLS),
    tx.now,
  );
  return true;
}

interface Moment {
  readonly runSeq: number;
  readonly asOfRun: number;
  readonly asOfStep: number | null;
}

function* momentOf(tx: Reader, { runSeq, asOfRun, asOfStep }: Moment): Step<AsOf> {
  const { createdAt, finishedAt } = (yield* tx.get<{ createdAt: number; finishedAt: number | null }>(
    'SELECT created_at, finished_at FROM runs WHERE seq = ?',
    asOfRun,
  ))!;
  return { step: asOfStep, isOwn: asOfRun === runSeq, createdAt, finishedAt };
}
