// The handlers of users' connections to services (I4).
import type { Administrator } from '../../domain/user.ts';
import type { Operations } from '../../operations/operations.ts';
import {
  parseNewConnection,
  renderConnection,
  renderConnectionCheck,
  renderConnectorCheck,
} from './connections-wire.ts';
import { type Exchange, idInPath, queryValue, refInPath } from '../frame/exchange.ts';
import { created, ok, type Reply } from '../frame/reply.ts';

type AdminHandler = (exchange: Exchange, caller: Administrator) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeConnectionHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Connection');
  return {
    list: async (exchange, caller) => {
      const { items, total } = await operations.listConnections(caller, queryValue(exchange, 'user'));
      return ok({ items: items.map(renderConnection), total });
    },
    create: async ({ body }, caller) =>
      created(renderConnection(await operations.createConnection(caller, parseNewConnection(body)))),
    revoke: async (exchange, caller) => ok(renderConnection(await operations.revokeConnection(caller, id(exchange)))),
    check: async (exchange, caller) =>
      ok(renderConnectionCheck(await operations.checkConnection(caller, id(exchange)))),
    checkConnector: async (exchange, caller) =>
      ok(renderConnectorCheck(await operations.checkConnector(caller, refInPath(exchange)))),
  } satisfies Record<string, AdminHandler>;
}
