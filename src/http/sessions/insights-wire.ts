// Insights on the wire (I3).
import { isoTime } from '../../domain/clock.ts';
import type { Insight } from '../../domain/sessions/insight.ts';
import type { InsightWire } from '../../wire/sessions/insight.ts';

export function renderInsight(insight: Insight): InsightWire {
  return {
    insight_id: insight.id,
    session_id: insight.sessionId,
    run_id: insight.runId,
    user_id: insight.userId,
    username: insight.username,
    title: insight.title,
    summary: insight.summary,
    priority: insight.priority,
    status: insight.status,
    created_at: isoTime(insight.createdAt),
    updated_at: isoTime(insight.updatedAt),
  };
}
