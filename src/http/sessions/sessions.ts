// The handlers of sessions, for the key that opened them (§4.6) and for administrators.
import type { Administrator, Caller, KeyCaller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { pageQuery } from '../../wire/listing.ts';
import type { sessionQuery } from '../../wire/sessions/session.ts';
import type { Static } from '../../wire/shape.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { renderList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';
import { renderSessionArtifacts } from './artifacts-wire.ts';
import { renderHistory } from './history-wire.ts';
import {
  renderCapabilityConfig,
  renderDeletion,
  renderSession,
  renderSessionRecord,
  renderStop,
} from './sessions-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeSessionHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Session');
  return {
    listOwn: async ({ query: page }: Exchange<Static<typeof pageQuery>>, caller: KeyCaller) =>
      ok({ ...renderList(await operations.listOwnSessions(caller, page), renderSession), ...page }),
    list: async ({ query }: Exchange<Static<typeof sessionQuery>>, caller: Administrator) => {
      const { user = null, key = null, ...page } = query;
      return ok(renderList(await operations.listSessions(caller, { user, key, ...page }), renderSessionRecord));
    },
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderSessionRecord(await operations.getSession(caller, id(exchange)))),
    messages: async (exchange: Exchange, caller: Caller) =>
      ok(renderHistory(await operations.listMessages(caller, id(exchange)))),
    artifacts: async (exchange: Exchange, caller: Caller) =>
      ok(renderSessionArtifacts(await operations.getSessionArtifacts(caller, id(exchange)), exchange.bases.own)),
    capabilityConfig: async (exchange: Exchange, caller: Caller) =>
      ok(renderCapabilityConfig(await operations.getCapabilityConfig(caller, id(exchange)))),
    stop: async (exchange: Exchange, caller: Caller) =>
      ok(renderStop(await operations.stopSession(caller, id(exchange)))),
    remove: async (exchange: Exchange, caller: Caller) =>
      ok(renderDeletion(await operations.deleteSession(caller, id(exchange)))),
  };
}
