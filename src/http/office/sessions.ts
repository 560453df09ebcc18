// The handlers of one session in Office Mode (§4.8).
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { pageQuery } from '../../wire/listing.ts';
import { EXPORT_NOT_READY, type officeMessagesQuery } from '../../wire/office/session.ts';
import type { Static } from '../../wire/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
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
  return {
    detail: async (_exchange: Exchange, caller: Administrator, id: string) =>
      ok(renderDetail(await operations.getOfficeDetail(caller, id))),
    session: async (_exchange: Exchange, caller: Administrator, id: string) =>
      ok(renderOfficeSession(await operations.getOfficeSession(caller, id))),
    summary: async (_exchange: Exchange, caller: Administrator, id: string) =>
      ok(renderSummary(await operations.getOfficeSummary(caller, id))),
    messages: async ({ query }: Exchange<Static<typeof officeMessagesQuery>>, caller: Administrator, id: string) =>
      ok(renderMessages(await operations.listOfficeMessages(caller, id, query))),
    runs: async ({ query }: Exchange<Static<typeof pageQuery>>, caller: Administrator, id: string) =>
      ok(renderRuns(await operations.listOfficeRuns(caller, id, query), query)),
    rounds: async ({ query }: Exchange<Static<typeof pageQuery>>, caller: Administrator, id: string) =>
      ok(renderRounds(await operations.listRunRounds(caller, id, query), query)),
    contextUsage: async (_exchange: Exchange, caller: Administrator, id: string) =>
      ok(renderContextUsage(await operations.getContextUsage(caller, id))),
    picture: async ({ bases }: Exchange, caller: Administrator, id: string, toolUseId: string) => {
      const { address, filename } = await operations.getOfficePicture(caller, id, toolUseId);
      return ok({ url: bases.own + address, filename });
    },
    files: async ({ bases }: Exchange, caller: Administrator, id: string) => {
      const files = await operations.getOfficeFiles(caller, id);
      return ok(files === null ? [] : renderWorkspace(id, files, bases.own));
    },
    archive: async ({ bases }: Exchange, caller: Administrator, id: string) => {
      const { address, filename } = await operations.getOfficeArchive(caller, id);
      if (address === null) return { ...ok({ url: null, filename }), message: EXPORT_NOT_READY };
      return ok({ url: bases.own + address, filename });
    },
  };
}
