// What metrics read of the rows: how runs ended, what was used, and what is waiting.
import type { ENDED, RunState, ScheduleMode } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import type { OwnLines } from './own-lines.ts';

/** How a run ended. `startedAt` is null when no worker had taken it. */
export interface RunEnd {
  readonly status: (typeof ENDED)[number];
  readonly mode: ScheduleMode;
  readonly startedAt: number | null;
  readonly finishedAt: number;
}

/** A call of a model, in the ledger. `team` is the name of its team now; null without one. */
export interface LedgerLine {
  readonly seq: number;
  readonly model: string;
  readonly team: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number;
  /** Milliseconds; null when no token came, and for calls that earlier versions recorded. */
  readonly firstTokenMs: number | null;
}

/** `lastSeq`: of the last line that was looked at. `more`: there may be others behind it. */
export interface OwnLinesFound {
  readonly lines: readonly LedgerLine[];
  readonly lastSeq: number;
  readonly more: boolean;
}

/** What waits, and what the journals hold. Null where there is none. */
export interface Depths {
  /** When the oldest run that no worker has started yet was accepted. */
  readonly oldestQueuedAt: number | null;
  readonly pendingDeliveries: number;
  readonly newestEventId: number;
  readonly oldestEventAt: number | null;
  readonly newestAuditId: number;
}

/** Beyond that, it does not matter how many deliveries wait. */
const COUNTED_DELIVERIES = 100_000;

const LINE = `SELECT l.seq, l.model, t.name AS team, l.input_tokens, l.output_tokens,
    l.cache_read_tokens, l.cache_write_tokens, l.cost_usd,
    l.first_token_ms
  FROM usage_records l LEFT JOIN runs r ON r.seq = l.run_seq LEFT JOIN teams t ON t.id = coalesce(l.team_id, r.team_id)
  WHERE l.seq > ? ORDER BY l.seq LIMIT ?`;

/** Behind an earlier run of its session, a run waits for that. */
const OLDEST_QUEUED = `SELECT created_at AS at FROM runs
  WHERE finished_at IS NULL AND status = 'queued' AND ready = 1 AND started_at IS NULL ORDER BY seq LIMIT 1`;

/** The verbs. All of them read by keys, or the ends of tables. */
export function makeMetricReads({ read }: Database, own: OwnLines) {
  return {
    /** How these runs ended; those that are gone, or have not ended, are left out. */
    endsOf: read(function* (tx: Reader, runSeqs: readonly number[]): Step<RunEnd[]> {
      const ends: RunEnd[] = [];
      for (const seq of runSeqs) {
        const row = yield* tx.get<{ status: RunState; mode: ScheduleMode } & Omit<RunEnd, 'status' | 'mode'>>(
          `SELECT status, schedule_mode AS mode, started_at, finished_at
           FROM runs WHERE seq = ?`,
          seq,
        );
        if (row !== undefined && row.finishedAt !== null) ends.push(row as RunEnd);
      }
      return ends;
    }),

    /** The number of the newest line of the ledger; 0 for an empty one. */
    newestLine: read(function* (tx: Reader): Step<number> {
      return (yield* tx.get<{ seq: number }>('SELECT seq FROM usage_records ORDER BY seq DESC LIMIT 1'))?.seq ?? 0;
    }),

    /** Of at most so many lines after this one, those that this process has written. */
    ownLinesAfter: read(function* (tx: Reader, seq: number, limit: number): Step<OwnLinesFound> {
      const lines = yield* tx.all<LedgerLine>(LINE, seq, limit);
      const found = { lines: lines.filter((line) => own.has(line.seq)), lastSeq: lines.at(-1)?.seq ?? seq };
      own.pass(found.lastSeq);
      return { ...found, more: lines.length === limit };
    }),

    depths: read(function* (tx: Reader): Step<Depths> {
      const deliveries = (yield* tx.get<{ pending: number }>(
        `SELECT count(*) AS pending FROM
           (SELECT 1 FROM webhook_deliveries WHERE state = 'pending' LIMIT ${COUNTED_DELIVERIES})`,
      ))!;
      return {
        oldestQueuedAt: (yield* tx.get<{ at: number }>(OLDEST_QUEUED))?.at ?? null,
        pendingDeliveries: deliveries.pending,
        newestEventId: (yield* tx.get<{ id: number }>('SELECT id FROM events ORDER BY id DESC LIMIT 1'))?.id ?? 0,
        oldestEventAt:
          (yield* tx.get<{ at: number }>('SELECT created_at AS at FROM events ORDER BY id LIMIT 1'))?.at ?? null,
        newestAuditId:
          (yield* tx.get<{ id: number }>('SELECT id FROM audit_entries ORDER BY id DESC LIMIT 1'))?.id ?? 0,
      };
    }),
  };
}
