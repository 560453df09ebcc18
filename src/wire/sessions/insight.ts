// Insights of agents (I3).
import { INSIGHT_PRIORITIES, INSIGHT_STATUSES } from '../../domain/sessions/insight.ts';
import { object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { oneOf, string, time, uuid } from '../scalars.ts';
import { named, optional, type Static } from '../shape.ts';

export const insight = named(
  'Insight',
  object({
    insight_id: uuid,
    session_id: uuid,
    run_id: uuid,
    user_id: uuid,
    username: string,
    title: string,
    summary: string,
    priority: oneOf(INSIGHT_PRIORITIES),
    status: oneOf(INSIGHT_STATUSES),
    created_at: time,
    updated_at: time,
  }),
);
export type InsightWire = Static<typeof insight>;

/** The status that an insight is to have. */
export const insightChange = named('InsightChange', object({ status: oneOf(INSIGHT_STATUSES) }));

/** What to list of them. */
export const insightQuery = object({
  status: optional(oneOf(INSIGHT_STATUSES)),
  session_id: optional(uuid),
  ...pageFields,
});
