// The body of workbench.insight_status_changed (H14).
import type { InsightFacts } from '../../domain/webhooks/event-facts.ts';

export function movedInsight({ insight }: { readonly insight: InsightFacts }) {
  return {
    insight: {
      insight_id: insight.id,
      title: insight.title,
      summary: insight.summary,
      priority: insight.priority,
      previous_status: insight.previous,
      status: insight.status,
    },
    meta: { trigger_source: insight.source },
  };
}
