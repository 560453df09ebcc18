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

type AdminHandler = (exchange: Exchange) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeAdministration({ operations, status, configuration }: AdministrationParts) {
  return {
    status: async () => ok(renderStatus(await status())),
    configuration: async () => ok(renderConfiguration(configuration())),

    listUsers: async () => ok(listOf(await operations.listUsers(), renderUser)),
    getUser: async (exchange) => ok(renderUser(await operations.getUser(refInPath(exchange)))),
    createUser: async ({ body }) => {
      const { user, password } = await operations.createUser(parseNewUser(body));
      return created({ ...renderUser(user), ...shownOnce('password', password) });
    },
    changeUser: async (exchange) => {
      const change = parseUserChange(exchange.body);
      return ok(renderUser(await operations.changeUser(refInPath(exchange), change)));
    },
    setPassword: async (exchange) => {
      const wish = parsePassword(exchange.body);
      const { user, password } = await operations.setPassword(refInPath(exchange), wish);
      return ok({ ...renderUserName(user), ...shownOnce('password', password) });
    },

    listTeams: async () => ok(listOf(await operations.listTeams(), renderTeam)),
    createTeam: async ({ body }) => created(renderTeam(await operations.createTeam(parseNewTeam(body)))),
    changeTeam: async (exchange) => {
      const change = parseTeamChange(exchange.body);
      return ok(renderTeam(await operations.changeTeam(refInPath(exchange), change)));
    },

    listKeys: async (exchange) => ok(listOf(await operations.listKeys(queryValue(exchange, 'user')), renderKey)),
    getKey: async (exchange) => ok(renderKey(await operations.getKey(refInPath(exchange)))),
    createKey: async ({ body }) => {
      const { key, secret } = await operations.createKey(parseNewKey(body));
      return created({ ...renderKey(key), ...shownOnce('key', secret) });
    },
    changeKey: async (exchange) => {
      const wish = parseKeyWish(exchange.body);
      return ok(renderKey(await operations.changeKey(refInPath(exchange), wish)));
    },
    revokeKey: async (exchange) => ok(renderKey(await operations.revokeKey(refInPath(exchange)))),

    listSigningKeys: async () => ok(listOf(await operations.listSigningKeys(), renderSigningKey)),
    rotateSigningKey: async () => created(renderSigningKey(await operations.rotateSigningKey())),
    revokeAllTokens: async () => created(renderSigningKey(await operations.revokeAllTokens())),
  } satisfies Record<string, AdminHandler>;
}

function listOf<T>({ items, total }: Listing<T>, render: (item: T) => object): object {
  return { items: items.map(render), total };
}

function shownOnce(name: string, secret: string | null): object {
  return secret === null ? {} : { [name]: secret };
}
