// The management API's handlers: each reads a request, asks one operation, and wraps what it answers.
import {
  parseKeyWish,
  parseNewKey,
  parseNewTeam,
  parseNewUser,
  parsePassword,
  parseTeamChange,
  parseUserChange,
  renderKey,
  renderConfiguration,
  renderStatus,
  renderTeam,
  renderUser,
  renderUserName,
} from './admin-wire.ts';
import type { Administrator } from '../../domain/user.ts';
import { type Exchange, queryValue, refInPath } from '../frame/exchange.ts';
import type { Listing } from '../../domain/listing.ts';
import type { Operations } from '../../operations/operations.ts';
import type { ConfigurationReport, StatusReport } from '../../operations/status.ts';
import { created, ok, type Reply } from '../frame/reply.ts';
import { renderSigningKey } from './token-wire.ts';

interface AdministrationParts {
  readonly operations: Operations;
  readonly status: () => Promise<StatusReport>;
  readonly configuration: () => ConfigurationReport;
}

type AdminHandler = (exchange: Exchange, caller: Administrator) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeAdministration({ operations, status, configuration }: AdministrationParts) {
  return {
    status: async () => ok(renderStatus(await status())),
    configuration: async () => ok(renderConfiguration(configuration())),

    listUsers: async (_exchange, caller) => ok(listOf(await operations.listUsers(caller), renderUser)),
    getUser: async (exchange, caller) => ok(renderUser(await operations.getUser(caller, refInPath(exchange)))),
    createUser: async ({ body }, caller) => {
      const { user, password } = await operations.createUser(caller, parseNewUser(body));
      return created({ ...renderUser(user), ...shownOnce('password', password) });
    },
    changeUser: async (exchange, caller) => {
      const change = parseUserChange(exchange.body);
      return ok(renderUser(await operations.changeUser(caller, refInPath(exchange), change)));
    },
    setPassword: async (exchange, caller) => {
      const wish = parsePassword(exchange.body);
      const { user, password } = await operations.setPassword(caller, refInPath(exchange), wish);
      return ok({ ...renderUserName(user), ...shownOnce('password', password) });
    },

    listTeams: async (_exchange, caller) => ok(listOf(await operations.listTeams(caller), renderTeam)),
    createTeam: async ({ body }, caller) =>
      created(renderTeam(await operations.createTeam(caller, parseNewTeam(body)))),
    changeTeam: async (exchange, caller) => {
      const change = parseTeamChange(exchange.body);
      return ok(renderTeam(await operations.changeTeam(caller, refInPath(exchange), change)));
    },

    listKeys: async (exchange, caller) =>
      ok(listOf(await operations.listKeys(caller, queryValue(exchange, 'user')), renderKey)),
    getKey: async (exchange, caller) => ok(renderKey(await operations.getKey(caller, refInPath(exchange)))),
    createKey: async ({ body }, caller) => {
      const { key, secret } = await operations.createKey(caller, parseNewKey(body));
      return created({ ...renderKey(key), ...shownOnce('key', secret) });
    },
    changeKey: async (exchange, caller) => {
      const wish = parseKeyWish(exchange.body);
      return ok(renderKey(await operations.changeKey(caller, refInPath(exchange), wish)));
    },
    revokeKey: async (exchange, caller) => ok(renderKey(await operations.revokeKey(caller, refInPath(exchange)))),

    listSigningKeys: async (_exchange, caller) =>
      ok(listOf(await operations.listSigningKeys(caller), renderSigningKey)),
    rotateSigningKey: async (_exchange, caller) => created(renderSigningKey(await operations.rotateSigningKey(caller))),
    revokeAllTokens: async (_exchange, caller) => created(renderSigningKey(await operations.revokeAllTokens(caller))),
  } satisfies Record<string, AdminHandler>;
}

function listOf<T>({ items, total }: Listing<T>, render: (item: T) => object): object {
  return { items: items.map(render), total };
}

function shownOnce(name: string, secret: string | null): object {
  return secret === null ? {} : { [name]: secret };
}
