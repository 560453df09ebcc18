// The handlers of a key's own sessions (§4.6).
import type { KeyCaller } from '../../domain/user.ts';
import { renderRunArtifacts, renderSessionArtifacts } from './artifacts-wire.ts';
import type { Operations } from '../../operations/operations.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { renderHistory } from './history-wire.ts';
import { pageInQuery } from '../frame/query.ts';
import type { Reply } from '../frame/reply.ts';
import { renderCapabilityConfig, renderDeletion, renderSession, renderStop } from './sessions-wire.ts';

type KeyHandler = (exchange: Exchange, caller: KeyCaller) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeSessionHandlers(operations: Operations) {
  const ok = (body: object): Reply => ({ status: 200, body });
  return {
    list: async (exchange, caller) => {
      const page = pageInQuery(exchange);
      const { items, total } = await operations.listSessions(caller, page);
      return ok({ items: items.map(renderSession), total, limit: page.limit, offset: page.offset });
    },
    messages: async (exchange, caller) =>
      ok(renderHistory(await operations.listMessages(caller, idInPath(exchange, 'Session')))),
    artifacts: async (exchange, caller) =>
      ok(renderSessionArtifacts(await operations.getSessionArtifacts(caller, idInPath(exchange, 'Session')))),
    runArtifacts: async (exchange, caller) =>
      ok(renderRunArtifacts(await operations.getRunArtifacts(caller, idInPath(exchange, 'Run')))),
    stop: async (exchange, caller) =>
      ok(renderStop(await operations.stopSession(caller, idInPath(exchange, 'Session')))),
    remove: async (exchange, caller) =>
      ok(renderDeletion(await operations.deleteSession(caller, idInPath(exchange, 'Session')))),
    capabilityConfig: async (exchange, caller) =>
      ok(renderCapabilityConfig(await operations.getCapabilityConfig(caller, idInPath(exchange, 'Session')))),
  } satisfies Record<string, KeyHandler>;
}
