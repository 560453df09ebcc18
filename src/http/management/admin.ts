// The management API's handlers: each asks one operation, and renders what it returns.
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { DefinedNamesWire } from '../../wire/capabilities/pin.ts';
import type { KeyChangeWire, NewKeyWire } from '../../wire/people/key.ts';
import type { NewTeamWire, TeamChangeWire } from '../../wire/people/team.ts';
import type { NewPasswordWire, NewUserWire, UserChangeWire } from '../../wire/people/user.ts';
import { type Exchange, refInPath } from '../frame/exchange.ts';
import { renderList, renderWholeList } from '../replies/render-list.ts';
import { created, ok } from '../replies/reply.ts';
import {
  definedOf,
  keyWishOf,
  newKeyOf,
  newTeamOf,
  newUserOf,
  renderConfiguration,
  renderDatabase,
  renderKey,
  renderLostPins,
  renderStatus,
  renderTeam,
  renderUser,
  renderUserName,
  teamChangeOf,
  userChangeOf,
} from './admin-wire.ts';
import { renderSigningKey } from './token-wire.ts';

/** An exchange whose body the route's shape has read. */
type With<B> = Exchange<unknown, B>;

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeAdministration(operations: Operations) {
  return {
    status: async (_exchange: Exchange, caller: Administrator) => ok(renderStatus(await operations.getStatus(caller))),
    configuration: async (_exchange: Exchange, caller: Administrator) =>
      ok(renderConfiguration(await operations.getConfiguration(caller))),
    lostPins: async ({ body }: With<DefinedNamesWire>, caller: Administrator) =>
      ok(renderLostPins(await operations.findLostPins(caller, definedOf(body)))),
    database: async (_exchange: Exchange, caller: Administrator) =>
      ok(renderDatabase(await operations.getDatabase(caller))),

    listUsers: async (_exchange: Exchange, caller: Administrator) =>
      ok(renderWholeList(await operations.listUsers(caller), renderUser)),
    getUser: async (exchange: Exchange, caller: Administrator) =>
      ok(renderUser(await operations.getUser(caller, refInPath(exchange)))),
    createUser: async ({ body }: With<NewUserWire>, caller: Administrator) => {
      const { user, password } = await operations.createUser(caller, newUserOf(body));
      return created({ ...renderUser(user), ...(password !== null && { password }) });
    },
    changeUser: async (exchange: With<UserChangeWire>, caller: Administrator) => {
      const change = userChangeOf(exchange.body);
      return ok(renderUser(await operations.changeUser(caller, refInPath(exchange), change)));
    },
    setPassword: async (exchange: With<NewPasswordWire>, caller: Administrator) => {
      const wish = exchange.body.password ?? null;
      const { user, password } = await operations.setPassword(caller, refInPath(exchange), wish);
      return ok({ ...renderUserName(user), ...(password !== null && { password }) });
    },

    listTeams: async (_exchange: Exchange, caller: Administrator) =>
      ok(renderList(await operations.listTeams(caller), renderTeam)),
    createTeam: async ({ body }: With<NewTeamWire>, caller: Administrator) =>
      created(renderTeam(await operations.createTeam(caller, newTeamOf(body)))),
    changeTeam: async (exchange: With<TeamChangeWire>, caller: Administrator) => {
      const change = teamChangeOf(exchange.body);
      return ok(renderTeam(await operations.changeTeam(caller, refInPath(exchange), change)));
    },

    listKeys: async ({ query }: Exchange<{ readonly user?: string }>, caller: Administrator) =>
      ok(renderWholeList(await operations.listKeys(caller, query.user ?? null), renderKey)),
    getKey: async (exchange: Exchange, caller: Administrator) =>
      ok(renderKey(await operations.getKey(caller, refInPath(exchange)))),
    createKey: async ({ body }: With<NewKeyWire>, caller: Administrator) => {
      const { key, secret } = await operations.createKey(caller, newKeyOf(body));
      return created({ ...renderKey(key), key: secret });
    },
    changeKey: async (exchange: With<KeyChangeWire>, caller: Administrator) => {
      const wish = keyWishOf(exchange.body);
      return ok(renderKey(await operations.changeKey(caller, refInPath(exchange), wish)));
    },
    revokeKey: async (exchange: Exchange, caller: Administrator) =>
      ok(renderKey(await operations.revokeKey(caller, refInPath(exchange)))),

    listSigningKeys: async (_exchange: Exchange, caller: Administrator) =>
      ok(renderList(await operations.listSigningKeys(caller), renderSigningKey)),
    rotateSigningKey: async (_exchange: Exchange, caller: Administrator) =>
      created(renderSigningKey(await operations.rotateSigningKey(caller))),
    revokeAllTokens: async (_exchange: Exchange, caller: Administrator) =>
      created(renderSigningKey(await operations.revokeAllTokens(caller))),
  };
}
