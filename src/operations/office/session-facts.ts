// What Office Mode shows of one session as a whole (§4.8: detail, the session itself, summary).
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { Clock } from '../../domain/clock.ts';
import type { ContextParts } from '../../domain/sessions/usage.ts';
import { PORTION_ROWS, type Portions, portionsOf } from '../../domain/portions.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { SessionOverview, SessionSummary, SessionTotals } from '../../store/office/session-overview.ts';
import type { MessageHead, RunHead } from '../../store/office/session-pages.ts';
import type { SessionRecord } from '../../store/sessions/session-records.ts';
import type { AuditedAccess } from '../audited-access.ts';

/** Contains all messages and runs, oldest first (G23). */
export interface OfficeDetail {
  readonly session: SessionRecord;
  readonly totals: SessionTotals;
  readonly messages: Portions<MessageHead>;
  readonly runs: Portions<RunHead>;
  /** The time of the read. */
  readonly at: number;
}

export interface OfficeSession extends SessionRecord, SessionOverview {}

export interface OfficeSummary extends SessionRecord, SessionSummary {}

/** How full the model's context window was at its last call; null before the first. */
export interface ContextUsage {
  readonly sessionId: string;
  readonly model: string | null;
  /** Null when the catalog no longer has the model. */
  readonly contextWindow: number | null;
  readonly parts: ContextParts;
}

export interface SessionFactParts {
  readonly store: Pick<Store, 'office'>;
  catalog(): Catalog;
  readonly auditedAccess: Pick<AuditedAccess, 'session'>;
  readonly clock: Clock;
}

const NOTHING: ContextParts = { system: 0, history: 0, tools: 0 };

/** The verbs. They throw as `AuditedAccess.session` does. */
export function makeSessionFacts({ store, auditedAccess, catalog, clock }: SessionFactParts) {
  return {
    getOfficeDetail: async (caller: Administrator, id: string): Promise<OfficeDetail> => {
      const session = await auditedAccess.session(caller, id);
      const { seq } = session;
      return {
        session,
        totals: await store.office.getTotals(seq),
        messages: portionsOf((last) => store.office.listMessageHeads(seq, last?.id ?? 0, PORTION_ROWS)),
        runs: portionsOf((last) => store.office.listRunHeads(seq, last?.seq ?? 0, PORTION_ROWS)),
        at: clock.now(),
      };
    },

    getOfficeSession: async (caller: Administrator, id: string): Promise<OfficeSession> => {
      const session = await auditedAccess.session(caller, id);
      return { ...session, ...(await store.office.getOverview(session.seq)) };
    },

    getOfficeSummary: async (caller: Administrator, id: string): Promise<OfficeSummary> => {
      const session = await auditedAccess.session(caller, id);
      return { ...session, ...(await store.office.getSummary(session.seq)) };
    },

    getContextUsage: async (caller: Administrator, id: string): Promise<ContextUsage> => {
      const { id: sessionId, seq } = await auditedAccess.session(caller, id);
      const call = await store.office.findLastCall(seq);
      if (call === undefined) return { sessionId, model: null, contextWindow: null, parts: NOTHING };
      const { model, ...parts } = call;
      return { sessionId, model, contextWindow: catalog().models.get(model)?.contextWindow ?? null, parts };
    },
  };
}
