// Insights on the wire (I3).
import { isoTime } from '../../domain/clock.ts';
import { type Insight, INSIGHT_STATUSES, type InsightStatus } from '../../domain/insight.ts';
import type { JsonObject } from '../../domain/json.ts';
import { oneOf } from '../frame/fields.ts';

export function renderInsight(insight: Insight): object {
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

const readStatus = oneOf(INSIGHT_STATUSES);

/** The status that an insight is to have. */
export function parseInsightStatus(body: JsonObject): InsightStatus {
  return readStatus(body['status'], 'status');
}
