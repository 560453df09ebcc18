// The handlers of sessions, for the key that opened them (§4.6) and for administrators.
import type { Administrator, Caller, KeyCaller } from '../../domain/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { type Exchange, idInPath, queryValue } from '../frame/exchange.ts';
import { pageInQuery } from '../frame/query.ts';
import { ok, type Reply } from '../frame/reply.ts';
import { renderSessionArtifacts } from './artifacts-wire.ts';
import { renderHistory } from './history-wire.ts';
import {
  renderCapabilityConfig,
  renderDeletion,
  renderSession,
  renderSessionRecord,
  renderStop,
} from './sessions-wire.ts';

type Handler<C extends Caller = Caller> = (exchange: Exchange, caller: C) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeSessionHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Session');
  const listOwn: Handler<KeyCaller> = async (exchange, caller) => {
    const page = pageInQuery(exchange);
    const { items, total } = await operations.listOwnSessions(caller, page);
    return ok({ items: items.map(renderSession), total, ...page });
  };
  const list: Handler<Administrator> = async (exchange, caller) => {
    const filter = { user: queryValue(exchange, 'user'), key: queryValue(exchange, 'key') };
    const { items, total } = await operations.listSessions(caller, { ...filter, ...pageInQuery(exchange) });
    return ok({ items: items.map(renderSessionRecord), total });
  };
  const handlers = {
    get: async (exchange, caller) => ok(renderSessionRecord(await operations.getSession(caller, id(exchange)))),
    messages: async (exchange, caller) => ok(renderHistory(await operations.listMessages(caller, id(exchange)))),
    artifacts: async (exchange, caller) =>
      ok(renderSessionArtifacts(await operations.getSessionArtifacts(caller, id(exchange)))),
    capabilityConfig: async (exchange, caller) =>
      ok(renderCapabilityConfig(await operations.getCapabilityConfig(caller, id(exchange)))),
    stop: async (exchange, caller) => ok(renderStop(await operations.stopSession(caller, id(exchange)))),
    remove: async (exchange, caller) => ok(renderDeletion(await operations.deleteSession(caller, id(exchange)))),
  } satisfies Record<string, Handler>;
  return { listOwn, list, ...handlers };
}
