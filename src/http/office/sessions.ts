// The handlers of one session in Office Mode (§4.8).
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { pageQuery } from '../../wire/listing.ts';
import { EXPORT_NOT_READY, type officeMessagesQuery } from '../../wire/office/session.ts';
import type { Static } from '../../wire/shape.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';
import { renderWorkspace } from '../sessions/artifacts-wire.ts';
import {
  renderContextUsage,
  renderDetail,
  renderMessages,
  renderOfficeSession,
  renderRounds,
  renderRuns,
  renderSummary,
} from './sessions-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeOfficeSessionHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Session');
  return {
    detail: async (exchange: Exchange, caller: Administrator) =>
      ok(renderDetail(await operations.getOfficeDetail(caller, id(exchange)))),
    get: async (exchange: Exchange, caller: Administrator) =>
      ok(renderOfficeSession(await operations.getOfficeSession(caller, id(exchange)))),
    summary: async (exchange: Exchange, caller: Administrator) =>
      ok(renderSummary(await operations.getOfficeSummary(caller, id(exchange)))),
    messages: async (exchange: Exchange<Static<typeof officeMessagesQuery>>, caller: Administrator) => {
      const { before_id: beforeId = null, limit } = exchange.query;
      return ok(renderMessages(await operations.listOfficeMessages(caller, id(exchange), { beforeId, limit })));
    },
    runs: async (exchange: Exchange<Static<typeof pageQuery>>, caller: Administrator) =>
      ok(renderRuns(await operations.listOfficeRuns(caller, id(exchange), exchange.query), exchange.query)),
    rounds: async (exchange: Exchange<Static<typeof pageQuery>>, caller: Administrator) =>
      ok(renderRounds(await operations.listRunRounds(caller, id(exchange), exchange.query), exchange.query)),
    contextUsage: async (exchange: Exchange, caller: Administrator) =>
      ok(renderContextUsage(await operations.getContextUsage(caller, id(exchange)))),
    picture: async (exchange: Exchange, caller: Administrator) => {
      const toolUseId = exchange.params['tool_use_id'] ?? '';
      const { address, filename } = await operations.getOfficePicture(caller, id(exchange), toolUseId);
      return ok({ url: exchange.bases.own + address, filename });
    },
    files: async (exchange: Exchange, caller: Administrator) => {
      const files = await operations.getOfficeFiles(caller, id(exchange));
      return ok(files === null ? [] : renderWorkspace(id(exchange), files, exchange.bases.own));
    },
    archive: async (exchange: Exchange, caller: Administrator) => {
      const { address, filename } = await operations.getOfficeArchive(caller, id(exchange));
      if (address === null) return { ...ok({ url: null, filename }), message: EXPORT_NOT_READY };
      return ok({ url: exchange.bases.own + address, filename });
    },
  };
}
