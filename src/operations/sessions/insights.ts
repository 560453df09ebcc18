// Insights of agents: listed, read and moved to another status (I3).
import { ErrandError } from '../../domain/errors.ts';
import { type Insight, INSIGHT_MOVES, type InsightStatus } from '../../domain/sessions/insight.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { Page } from '../../domain/listing.ts';
import { type Access, scopeOf } from '../access.ts';
import { type Audit, ifMoved } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';

/** Null means no filter. */
export interface InsightQuery extends Page {
  readonly sessionId: string | null;
  readonly status: InsightStatus | null;
}

export interface InsightOperationParts {
  readonly store: Pick<Store, 'insights'>;
  readonly access: Pick<Access, 'insight'>;
  readonly auditedAccess: Pick<AuditedAccess, 'session' | 'insight'>;
  readonly audit: Pick<Audit, 'change'>;
}

export interface InsightChange {
  readonly status: InsightStatus;
}

/** The verbs on insights. Those that take an id throw as `Access.insight` does. */
export function makeInsightOperations({ store, access, auditedAccess, audit }: InsightOperationParts) {
  return {
    /** The insights within the caller's reach, the newest first. */
    listInsights: async (caller: Caller, { sessionId, status, ...page }: InsightQuery) => {
      const session = sessionId === null ? null : await auditedAccess.session(caller, sessionId);
      return store.insights.list({
        ...scopeOf(caller),
        sessionSeq: session?.seq ?? null,
        status,
        ...page,
      });
    },

    getInsight: auditedAccess.insight,

    /** Changes the status of an insight. Throws `conflict` when its status does not allow the change. */
    setInsightStatus: async (caller: Caller, id: string, { status }: InsightChange): Promise<Insight> => {
      const insight = await access.insight(caller, id);
      const source = caller.kind === 'token' ? 'user' : 'api';
      const note = audit.change(caller, 'insight.change', ifMoved(insight));
      const moved = await store.insights.setStatus(insight.id, status, source, note);
      const now = await access.insight(caller, id);
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
