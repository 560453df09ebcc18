// The handlers of users' connections to services (I4).
import type { Operations } from '../../operations/operations.ts';
import {
  parseNewConnection,
  renderConnection,
  renderConnectionCheck,
  renderConnectorCheck,
} from './connections-wire.ts';
import { type Exchange, idInPath, queryValue, refInPath } from '../frame/exchange.ts';
import { created, ok, type Reply } from '../frame/reply.ts';

type AdminHandler = (exchange: Exchange) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeConnectionHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Connection');
  return {
    list: async (exchange) => {
      const { items, total } = await operations.listConnections(queryValue(exchange, 'user'));
      return ok({ items: items.map(renderConnection), total });
    },
    create: async ({ body }) => created(renderConnection(await operations.createConnection(parseNewConnection(body)))),
    revoke: async (exchange) => ok(renderConnection(await operations.revokeConnection(id(exchange)))),
    check: async (exchange) => ok(renderConnectionCheck(await operations.checkConnection(id(exchange)))),
    checkConnector: async (exchange) => ok(renderConnectorCheck(await operations.checkConnector(refInPath(exchange)))),
  } satisfies Record<string, AdminHandler>;
}
