// Insights: reported by agents, moved to other statuses by people (I3).
import type { Insight, InsightSource, InsightStatus } from '../../domain/sessions/insight.ts';
import { INSIGHT_MOVES } from '../../domain/sessions/insight.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import { conditions, readPage } from '../engine/lists.ts';
import type { Database } from '../engine/database.ts';
import { plain, rowKind } from '../engine/row.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { Page } from '../../domain/listing.ts';
import { type NewInsight, reportIn } from './report-insight.ts';
import { type Fence, holds } from '../runs/fence.ts';

/** Null means no filter. */
export interface InsightFilter extends Page {
  readonly userSeq: number | null;
  readonly keySeq: number | null;
  readonly sessionSeq: number | null;
  readonly status: InsightStatus | null;
}

const INSIGHT = rowKind<Insight>({
  seq: plain,
  id: plain,
  sessionId: plain,
  runId: plain,
  userSeq: plain,
  userId: plain,
  username: plain,
  title: plain,
  summary: plain,
  priority: plain,
  status: plain,
  createdAt: plain,
  updatedAt: plain,
});

/** What the event of a move contains of the insight. */
type InsightSubject = Pick<Insight, 'title' | 'summary' | 'priority'>;

const SELECT = `SELECT i.*, s.id AS session_id, r.id AS run_id, u.id AS user_id, u.username FROM insights i
  JOIN sessions s ON s.seq = i.session_seq JOIN runs r ON r.seq = i.run_seq JOIN users u ON u.seq = i.user_seq`;

/** The verbs on insights. Insights of deleted sessions are not found. */
export function makeInsights(database: Database) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /**
     * Stores an insight of a run, once for each call. Returns its id; undefined when the attempt no longer holds the run.
     */
    report: write(function* (tx: Transaction, fence: Fence, insight: NewInsight): Step<string | undefined> {
      return (yield* holds(tx, fence))
        ? ((yield* findReported(tx, fence, insight.callId)) ?? (yield* reportIn(tx, fence, insight, 'agent')))
        : undefined;
    }),

    /** The insight of an id, or undefined. */
    find: read(function* (tx: Reader, id: string): Step<Insight | undefined> {
      return yield* tx.rows(INSIGHT).get(`${SELECT} WHERE i.id = ? AND s.deleted_at IS NULL`, id);
    }),

    /** Insights, the newest first, and their total number. */
    list: read(function* (tx: Reader, { userSeq, keySeq, sessionSeq, status, ...page }: InsightFilter) {
      const filters = conditions(['s.deleted_at IS NULL'], {
        'i.user_seq = ?': userSeq,
        's.key_seq = ?': keySeq,
        'i.session_seq = ?': sessionSeq,
        'i.status = ?': status,
      });
      const list = {
        rows: INSIGHT,
        from: 'insights i JOIN sessions s ON s.seq = i.session_seq',
        select: SELECT,
        order: 'i.seq DESC',
      };
      return yield* readPage(tx, { ...list, ...filters }, page);
    }),

    /** Changes the status of an insight. Returns false when its current status does not allow that. */
    setStatus: (id: string, status: InsightStatus, source: InsightSource, note?: Note<boolean>): Promise<boolean> =>
      auditedWrite(note, function* (tx) {
        const row = yield* tx.get<{ status: InsightStatus }>('SELECT status FROM insights WHERE id = ?', id);
        if (row === undefined || !INSIGHT_MOVES[row.status].includes(status)) return false;
        const moved = (yield* tx.get<InsightSubject & { sessionSeq: number; runId: string }>(
          `UPDATE insights SET status = ?, updated_at = ? WHERE id = ? AND status = ?
           RETURNING session_seq, (SELECT id FROM runs WHERE seq = run_seq) AS runId, title, summary, priority`,
          status,
          tx.now,
          id,
          row.status,
        ))!;
        const { sessionSeq, ...subject } = moved;
        // Not an event of the run: the run's stream may have ended long ago.
        tx.emit(sessionSeq, null, {
          type: 'insight.status_changed',
          payload: { insightId: id, ...subject, status, previous: row.status, source },
        });
        return true;
      }),
  };
}

function* findReported(tx: Transaction, fence: Fence, callId: string): Step<string | undefined> {
  const sql = 'SELECT id FROM insights WHERE run_seq = ? AND tool_use_id = ?';
  return (yield* tx.get<{ id: string }>(sql, fence.runSeq, callId))?.id;
}
