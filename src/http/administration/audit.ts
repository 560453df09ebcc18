// The handlers of the audit log (G17).
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { auditQuery } from '../../wire/people/audit.ts';
import type { Static } from '../../wire/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { renderList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';
import { renderAuditEntry, renderAuditHead } from './audit-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeAuditHandlers(operations: Operations) {
  return {
    list: async ({ query }: Exchange<Static<typeof auditQuery>>, caller: Administrator) => {
      const { actor = null, action = null, target = null, session = null, from = null, to = null } = query;
      const { before_id: beforeId = null, after_id: afterId = null, limit } = query;
      const filter = { actor, action, targetId: target, sessionId: session, fromAt: from, toAt: to };
      const found = await operations.listAuditEntries(caller, { ...filter, beforeId, afterId, limit });
      return ok(renderList(found, renderAuditEntry));
    },
    head: async (_exchange: Exchange, caller: Administrator) =>
      ok(renderAuditHead(await operations.getAuditHead(caller))),
  };
}
