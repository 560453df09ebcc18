// Insights: what an agent wants people to know, beside its answer (I3).

export const INSIGHT_PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type InsightPriority = (typeof INSIGHT_PRIORITIES)[number];

export type InsightStatus = 'new' | 'acknowledged' | 'resolved' | 'dismissed';
