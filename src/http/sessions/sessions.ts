// The handlers of sessions that no table can say: pages for programs, and what is streamed.
import type { Caller, KeyCaller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { pageQuery } from '../../wire/listing.ts';
import { ownSession } from '../../wire/sessions/session.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { renderList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';
import { renderSessionArtifacts } from './artifacts-wire.ts';
import { renderHistory } from './history-wire.ts';

export function makeSessionHandlers(operations: Operations) {
  return {
    listOwn: async ({ query: page }: Exchange<Static<typeof pageQuery>>, caller: KeyCaller) =>
      ok({ ...renderList(await operations.listOwnSessions(caller, page), ownSession.render), ...page }),
    messages: async (_exchange: Exchange, caller: Caller, id: string) =>
      ok(renderHistory(await operations.listMessages(caller, id))),
    artifacts: async ({ bases }: Exchange, caller: Caller, id: string) =>
      ok(renderSessionArtifacts(await operations.getSessionArtifacts(caller, id), bases.own)),
  };
}
