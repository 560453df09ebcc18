// Claiming: the next runs that may start, moved to `running` under an attempt number and a lease.
import type { Run } from '../domain/run.ts';
import type { Database, Transaction } from './database.ts';
import { RUN_COLUMNS, type RunRow, toRun } from './rows.ts';

/** What decides the model of a run: its key's fixed model, else its owner's scenario (§1 rule 9). */
export interface ModelChoice {
  readonly keyModel: string | null;
  readonly scenario: string | null;
}

export interface ClaimOrder {
  /** How many runs at most. */
  readonly limit: number;
  readonly leaseMs: number;
  /** The catalog's model for a choice; null when it has none. */
  modelFor(choice: ModelChoice): string | null;
}

/** A claimed run with its attempt number: every later write of the run names it and is refused once it is outdated (D7). */
export interface Claim {
  readonly run: Run;
  readonly choice: ModelChoice;
}

// The heads of every key's queue are found by skipping from key to key in an index of the claimable runs only, so the
// cost grows with the number of waiting keys, not of waiting runs. The key with the fewest executing runs goes first.
const NEXT = `
  WITH RECURSIVE waiting (key_seq) AS (
    SELECT min(key_seq) FROM runs WHERE status = 'queued' AND ready = 1
    UNION ALL
    SELECT (SELECT min(key_seq) FROM runs WHERE status = 'queued' AND ready = 1 AND key_seq > waiting.key_seq)
    FROM waiting WHERE waiting.key_seq IS NOT NULL
  )
  SELECT head FROM (
    SELECT
      (SELECT min(seq) FROM runs WHERE status = 'queued' AND ready = 1 AND key_seq = waiting.key_seq) AS head,
      (SELECT count(*) FROM runs WHERE status IN ('running', 'finalizing') AND key_seq = waiting.key_seq) AS executing
    FROM waiting WHERE waiting.key_seq IS NOT NULL
  ) ORDER BY executing, head LIMIT 1`;

const CLAIM = `UPDATE runs SET status = 'running', attempt = attempt + 1, model = ?, lease_until = ?,
  started_at = coalesce(started_at, ?) WHERE seq = ? AND status = 'queued' AND ready = 1`;

/** The verb that claims up to `limit` runs, fair between keys, in order of acceptance within one. */
export function makeClaimRuns({ write }: Database): (order: ClaimOrder) => Promise<Claim[]> {
  return (order) =>
    write((tx) => {
      const claims: Claim[] = [];
      while (claims.length < order.limit) {
        const next = tx.get<{ head: number | null }>(NEXT);
        if (next === undefined || next.head === null) break;
        claims.push(claim(tx, next.head, order));
      }
      return claims;
    });
}

function claim(tx: Transaction, runSeq: number, order: ClaimOrder): Claim {
  const choice = tx.get<ModelChoice>(
    `SELECT k.model AS keyModel, u.scenario AS scenario FROM runs r
     JOIN api_keys k ON k.seq = r.key_seq JOIN users u ON u.seq = r.user_seq WHERE r.seq = ?`,
    runSeq,
  )!;
  const model = order.modelFor(choice);
  tx.run(CLAIM, model, tx.now + order.leaseMs, tx.now, runSeq);
  const row = tx.get<RunRow>(
    `SELECT ${RUN_COLUMNS} FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE r.seq = ?`,
    runSeq,
  )!;
  tx.run("UPDATE sessions SET status = 'running', updated_at = ? WHERE seq = ?", tx.now, row.session_seq);
  tx.emit(row.session_seq, runSeq, { type: 'run.started', payload: { attempt: row.attempt, model: model ?? '' } });
  return { run: toRun(row), choice };
}
