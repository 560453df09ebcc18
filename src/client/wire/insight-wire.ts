// Insights of agents, as the management interface tells them.
import type { InsightPriority, InsightStatus } from '../../domain/insight.ts';

/** An insight. */
export interface InsightWire {
  readonly insight_id: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly title: string;
  readonly summary: string;
  readonly priority: InsightPriority;
  readonly status: InsightStatus;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What to list of them. */
export interface InsightQuery {
  readonly session?: string;
  readonly status?: InsightStatus;
  readonly limit?: number;
}
