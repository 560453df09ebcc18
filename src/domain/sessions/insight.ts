// Insights: what an agent wants people to know, in addition to its answer (I3).

export const INSIGHT_PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type InsightPriority = (typeof INSIGHT_PRIORITIES)[number];

export const INSIGHT_STATUSES = ['new', 'acknowledged', 'resolved', 'dismissed'] as const;
export type InsightStatus = (typeof INSIGHT_STATUSES)[number];

/** Every allowed move (I3). The store guards each in SQL. */
export const INSIGHT_MOVES: Readonly<Record<InsightStatus, readonly InsightStatus[]>> = {
  new: ['acknowledged', 'resolved', 'dismissed'],
  acknowledged: ['resolved', 'dismissed'],
  resolved: [],
  dismissed: [],
};

/** Who made a move. */
export type InsightSource = 'agent' | 'user' | 'api';

/** An insight of a run, for the owner of its session. */
export interface Insight {
  readonly seq: number;
  readonly id: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly userSeq: number;
  readonly userId: string;
  readonly username: string;
  readonly title: string;
  readonly summary: string;
  readonly priority: InsightPriority;
  readonly status: InsightStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
}
