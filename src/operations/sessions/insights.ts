// Insights of agents: who sees them and moves them on (I3).
import { ErrandError, notFound } from '../../domain/errors.ts';
import { type Insight, INSIGHT_MOVES, type InsightStatus } from '../../domain/insight.ts';
import type { Caller } from '../../domain/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { Page } from '../../store/sessions/overview.ts';
import { getSessionFor, ownerFor, requireOwner } from './ownership.ts';

/** Null leaves a filter out. */
export interface InsightQuery extends Page {
  readonly sessionId: string | null;
  readonly status: InsightStatus | null;
}

/** The verbs on insights. Those that take an id throw `not_found` for an unknown one, `forbidden` for another user's. */
export function makeInsightOperations({ store }: { readonly store: Store }) {
  async function get(caller: Caller, id: string): Promise<Insight> {
    const found = await store.insights.find(id.toLowerCase());
    if (found === undefined) throw notFound('Insight');
    requireOwner(caller, found.userSeq, 'The insight');
    return found;
  }

  return {
    /** The caller's insights; everybody's for an administrator. */
    listInsights: async (caller: Caller, { sessionId, status, ...page }: InsightQuery) => {
      const session = sessionId === null ? null : await getSessionFor(store, caller, sessionId);
      const filter = { userSeq: ownerFor(caller), sessionSeq: session?.seq ?? null, status };
      return store.insights.list({ ...filter, ...page });
    },

    getInsight: get,

    /** Moves an insight on. Throws `conflict` when its status does not allow the move. */
    setInsightStatus: async (caller: Caller, id: string, status: InsightStatus): Promise<Insight> => {
      const insight = await get(caller, id);
      const source = caller.kind === 'token' ? 'user' : 'api';
      const moved = await store.insights.setStatus(insight.id, status, source);
      const now = await get(caller, id);
      if (!moved) throw new ErrandError('conflict', refusalOf(now, status));
      return now;
    },
  };
}

function refusalOf(insight: Insight, status: InsightStatus): string {
  const open = INSIGHT_MOVES[insight.status];
  const may = open.length === 0 ? 'It is closed.' : `It may become ${open.join(' or ')}.`;
  return `The insight is ${insight.status} and cannot become ${status}. ${may}`;
}
