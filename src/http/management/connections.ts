// The handlers of users' connections to services (I4).
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { NewConnectionWire } from '../../wire/capabilities/connection.ts';
import { type Exchange, idInPath, refInPath } from '../frame/exchange.ts';
import { created, ok } from '../replies/reply.ts';
import { renderWholeList } from '../replies/render-list.ts';
import { newConnectionOf, renderConnection, renderConnectionCheck, renderConnectorCheck } from './connections-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeConnectionHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Connection');
  return {
    list: async ({ query }: Exchange<{ readonly user?: string }>, caller: Administrator) =>
      ok(renderWholeList(await operations.listConnections(caller, query.user ?? null), renderConnection)),
    create: async ({ body }: Exchange<unknown, NewConnectionWire>, caller: Administrator) =>
      created(renderConnection(await operations.createConnection(caller, newConnectionOf(body)))),
    revoke: async (exchange: Exchange, caller: Administrator) =>
      ok(renderConnection(await operations.revokeConnection(caller, id(exchange)))),
    check: async (exchange: Exchange, caller: Administrator) =>
      ok(renderConnectionCheck(await operations.checkConnection(caller, id(exchange)))),
    checkConnector: async (exchange: Exchange, caller: Administrator) =>
      ok(renderConnectorCheck(await operations.checkConnector(caller, refInPath(exchange)))),
  };
}
