// Stores an insight of a run, with its event.
import { newId } from '../../domain/ids.ts';
import type { InsightPriority, InsightSource } from '../../domain/sessions/insight.ts';
import type { Step, Transaction } from '../engine/statement.ts';

export interface NewInsight {
  readonly callId: string;
  readonly title: string;
  readonly summary: string;
  readonly priority: InsightPriority;
}

/** The run of an insight. */
export interface ReportingRun {
  readonly sessionSeq: number;
  readonly runSeq: number;
}

/** Stores an insight of a run. `source`: who reports it. */
export function* reportIn(
  tx: Transaction,
  run: ReportingRun,
  { callId, title, summary, priority }: NewInsight,
  source: InsightSource,
): Step<string> {
  const insightId = newId(tx.now);
  yield* tx.run(
    `INSERT INTO insights (id, session_seq, run_seq, user_seq, tool_use_id, title, summary, priority, status, created_at,
       updated_at) SELECT ?, session_seq, seq, user_seq, ?, ?, ?, ?, 'new', ?, ? FROM runs WHERE seq = ?`,
    insightId,
    callId,
    title,
    summary,
    priority,
    tx.now,
    tx.now,
    run.runSeq,
  );
  const { id: runId } = (yield* tx.get<{ id: string }>('SELECT id FROM runs WHERE seq = ?', run.runSeq))!;
  const payload = {
    runId,
    insightId,
    title,
    summary,
    priority,
    status: 'new',
    previous: null,
    source,
  } as const;
  tx.emit(run.sessionSeq, null, { type: 'insight.status_changed', payload });
  return insightId;
}
