// What models were asked with besides the conversation. Each text is stored once, for all replies that share it.
import type { RunSetup } from '../../domain/sessions/run-setup.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A setup from a step of a run on. */
export interface StoredSetup {
  readonly step: number;
  readonly seq: number;
  readonly text: string;
}

/** In a statement with the hash as its parameter: the row, or NULL when the text isn't stored yet. */
export const SETUP_BY_HASH = '(SELECT seq FROM run_setups WHERE sha256 = ?)';

/** Stores a text that isn't stored yet, for a reply that was just recorded. */
export function* addSetup(tx: Transaction, { sha256, bytes }: RunSetup, runSeq: number, step: number): Step<void> {
  const text = Buffer.from(bytes).toString();
  yield* tx.run('INSERT INTO run_setups (sha256, text) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING', sha256, text);
  yield* tx.run(`UPDATE steps SET setup = ${SETUP_BY_HASH} WHERE run_seq = ? AND step = ?`, sha256, runSeq, step);
}

/** The setups of a run, from its first step on. */
export function readSetups(tx: Reader, runSeq: number, limit: number): Step<StoredSetup[]> {
  return tx.all<StoredSetup>(
    `SELECT s.step, x.seq, x.text FROM steps s CROSS JOIN run_setups x ON x.seq = s.setup
     WHERE s.run_seq = ? ORDER BY s.step LIMIT ?`,
    runSeq,
    limit,
  );
}

/** Takes them from a run, one after the other: texts that no other run has, then what refers to shared ones. Parameters: run, limit. */
export const FORGET_SETUPS = [
  `DELETE FROM run_setups WHERE seq IN (
     SELECT x.setup FROM steps x WHERE x.run_seq = ? AND x.setup IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM steps y WHERE y.setup = x.setup AND y.run_seq <> x.run_seq)) LIMIT ?`,
  'UPDATE steps SET setup = NULL WHERE run_seq = ? AND setup IS NOT NULL LIMIT ?',
] as const;
