// Insights of agents (I3).
import { INSIGHT_PRIORITIES, INSIGHT_STATUSES } from '../../domain/sessions/insight.ts';
import { object } from '../shapes/composites.ts';
import { endpoints, idOf } from '../endpoint.ts';
import { listOf, pageFields } from '../listing.ts';
import { called, record, request } from '../shapes/record.ts';
import { oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, orElse, refersTo } from '../shapes/shape.ts';

const insight = named(
  'Insight',
  record({
    id: called('insight_id', uuid),
    sessionId: uuid,
    runId: uuid,
    userId: uuid,
    username: string,
    title: string,
    summary: string,
    priority: oneOf(INSIGHT_PRIORITIES),
    status: oneOf(INSIGHT_STATUSES),
    createdAt: time,
    updatedAt: time,
  }),
);
export type InsightWire = JsonOf<typeof insight>;

/** The status that an insight is to have. */
const insightChange = named('InsightChange', object({ status: oneOf(INSIGHT_STATUSES) }));

/** What to list of them. */
const insightQuery = request({
  status: orElse(oneOf(INSIGHT_STATUSES), null),
  sessionId: orElse(refersTo('sessions', uuid), null),
  ...pageFields,
});

const one = { params: { id: idOf('Insight', 'insights') }, reply: insight };

/** Insights: everyone's own, and for administrators all. */
// biome-ignore format: a table reads best with one endpoint a line
export const insights = endpoints('user', 'envelope', {
  list: { route: 'GET /api/v1/insights', summary: 'List insights', operation: 'listInsights', query: insightQuery, reply: listOf(insight), perPart: 20 },
  get: { route: 'GET /api/v1/insights/:id', summary: 'Read an insight', operation: 'getInsight', ...one },
  setStatus: { route: 'PATCH /api/v1/insights/:id', summary: 'Change the status of an insight', operation: 'setInsightStatus', ...one, body: insightChange },
});
