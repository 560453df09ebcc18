// The typed client of a running daemon: the verbs that the command line and the terminal view speak.
import type { IncomingMessage } from 'node:http';
import type { DefinitionCheckWire, DefinitionNoun, DefinitionWire } from '../wire/capabilities/definition.ts';
import type { DefinedNamesWire, LostPinsWire } from '../wire/capabilities/pin.ts';
import type { ListWire } from '../wire/listing.ts';
import type { KeyChangeWire, KeyWire, NewKeyWire } from '../wire/people/key.ts';
import type { NewTeamWire, TeamChangeWire, TeamWire } from '../wire/people/team.ts';
import type { SigningKeyWire } from '../wire/people/token.ts';
import type { HoldingsWire, LeaveProgressWire, LeaveWishWire } from '../wire/people/leaving.ts';
import type { ImportPlanWire, UserImportWire } from '../wire/people/user-import.ts';
import type { NewPasswordWire, NewUserWire, PasswordWire, UserChangeWire, UserWire } from '../wire/people/user.ts';
import type { SessionArtifactsWire } from '../wire/sessions/artifact.ts';
import type { HistoryWire } from '../wire/sessions/history.ts';
import type { QueueWire } from '../wire/sessions/queue.ts';
import type { DeletionWire, sessionQuery, SessionWire, StopWire } from '../wire/sessions/session.ts';
import type { ConfigurationWire, DatabaseWire, StatusWire } from '../wire/status.ts';
import { type AuditLog, makeAuditLog } from './audit.ts';
import { type Backups, makeBackups } from './backups.ts';
import { type Budgets, makeBudgets } from './budgets.ts';
import { type Checks, makeChecks } from './checks.ts';
import { type Connections, makeConnections } from './connections.ts';
import { makeMessages, type Messages } from './conversation.ts';
import { type KeyVerbs, makeKeyVerbs } from './key-verbs.ts';
import { makeOffice, type Office } from './office.ts';
import { openFile } from './transport/download.ts';
import { callManagement } from './transport/exchange.ts';
import { type Query, queryOf } from './transport/query.ts';
import { makePublishes, makeShares, type Publishes, type Shares } from './publishing.ts';
import { type Inputs, type Insights, makeInputs, makeInsights } from './questions.ts';
import { type CallManagement, makeReferences, type References } from './references.ts';
import { makeRetentionVerbs, type RetentionVerbs } from './retention.ts';
import { makeSchedules, type Schedules } from './schedules.ts';
import { makeRuns, type Runs } from './runs.ts';
import type { Address, Call } from './transport/transport.ts';
import { makeWebhookEvents, type WebhookEvents } from './webhook-events.ts';
import { type Deliveries, makeDeliveries, makeWebhooks, type Webhooks } from './webhooks.ts';

/** Verbs per noun. Every id may be the start of one; a `ref` is an id, the start of one, or a name. Every verb throws ClientError. */
export interface Client extends Checks {
  /** Waits for an answer for 30 seconds unless told otherwise. */
  status(within?: { readonly timeoutMs: number }): Promise<StatusWire>;
  /** What the daemon is configured by, and what is wrong with its files now. */
  configuration(): Promise<ConfigurationWire>;
  /** Who is pinned to what isn't among these names. */
  lostPins(defined: DefinedNamesWire): Promise<LostPinsWire>;
  database(): Promise<DatabaseWire>;
  readonly retention: RetentionVerbs;
  readonly users: {
    list(): Promise<ListWire<UserWire>>;
    get(ref: string): Promise<UserWire>;
    create(input: NewUserWire): Promise<UserWire>;
    /** All that a user has. */
    holdings(ref: string): Promise<HoldingsWire>;
    /** Disables a user and settles some of what they have: to be repeated until it is done. */
    leave(ref: string, wish: LeaveWishWire): Promise<LeaveProgressWire>;
    /** What an import would change. Nothing is done. */
    planImport(input: UserImportWire): Promise<ImportPlanWire>;
    change(ref: string, fields: UserChangeWire): Promise<UserWire>;
    /** Without a password, the daemon generates one and returns it. */
    setPassword(ref: string, password?: string): Promise<PasswordWire>;
  };
  readonly teams: {
    list(): Promise<ListWire<TeamWire>>;
    create(input: NewTeamWire): Promise<TeamWire>;
    change(ref: string, fields: TeamChangeWire): Promise<TeamWire>;
  };
  readonly keys: {
    list(userRef?: string): Promise<ListWire<KeyWire>>;
    get(id: string): Promise<KeyWire>;
    create(input: NewKeyWire): Promise<KeyWire>;
    /** For the sessions that it opens from now on. */
    change(id: string, fields: KeyChangeWire): Promise<KeyWire>;
    revoke(id: string): Promise<KeyWire>;
  };
  readonly tokens: {
    listKeys(): Promise<ListWire<SigningKeyWire>>;
    /** Returns the key that signs from now on. */
    rotate(): Promise<SigningKeyWire>;
    /** Refuses every login token issued before now; returns the key that signs from now on. */
    revokeAll(): Promise<SigningKeyWire>;
  };
  readonly sessions: {
    list(query: Query<typeof sessionQuery>): Promise<ListWire<SessionWire>>;
    get(id: string): Promise<SessionWire>;
    /** The whole history. */
    messages(id: string): Promise<HistoryWire>;
    /** The workspace, with addresses that are valid for 15 minutes. */
    artifacts(id: string): Promise<SessionArtifactsWire>;
    stop(id: string): Promise<StopWire>;
    remove(id: string): Promise<DeletionWire>;
  };
  readonly runs: Runs;
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly audit: AuditLog;
  readonly backups: Backups;
  readonly inputs: Inputs;
  readonly insights: Insights;
  readonly schedules: Schedules;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly webhookEvents: WebhookEvents;
  readonly publishes: Publishes;
  readonly shares: Shares;
  /** What the config directory defines, by kind. */
  readonly definitions: {
    /** `problems`: why some are left out. */
    list<N extends DefinitionNoun>(
      noun: N,
    ): Promise<ListWire<DefinitionWire<N>> & Pick<DefinitionCheckWire, 'problems'>>;
    /** By name or id. */
    get<N extends DefinitionNoun>(noun: N, ref: string): Promise<DefinitionWire<N>>;
    /** Reads the files now, without applying them. */
    check(noun: DefinitionNoun): Promise<DefinitionCheckWire>;
  };
  queue(limit?: number): Promise<QueueWire>;
  /** The full id for a prefix; a full id unchanged. */
  readonly wholeId: References['whole'];
  /** Opens a file at one of the daemon's signed addresses, over this client's own connection. */
  download(url: string): Promise<IncomingMessage>;
  readonly messages: Messages;
  /** What a key does with its own sessions. */
  ofKey(apiKey: string): KeyVerbs;
  readonly office: Office;
}

/** Makes a client of the daemon at an address. `signal` ends whatever is in progress. Opens no connection yet. */
export function makeClient(address: Address, signal?: AbortSignal): Client {
  const send = <T>(method: Call['method'], path: string, body?: object, timeoutMs?: number) =>
    callManagement<T>(address, {
      method,
      path,
      ...(body !== undefined && { body }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(signal && { signal }),
    });
  const call: CallManagement = (method, path, body, timeoutMs) => send(method, `/api/v1${path}`, body, timeoutMs);
  const references = makeReferences(call);
  const { at, whole } = references;
  return {
    status: (within) => call('GET', '/status', undefined, within?.timeoutMs),
    configuration: () => call('GET', '/configuration'),
    lostPins: (defined) => call('POST', '/configuration/pins', defined),
    database: () => call('GET', '/database'),
    retention: makeRetentionVerbs(call),
    ...makePeople(call, references),
    sessions: {
      list: async (query) => call('GET', `/sessions${queryOf({ ...query, user: await whole('users', query.user) })}`),
      get: async (id) => call('GET', await at('sessions', id)),
      messages: async (id) => call('GET', `${await at('sessions', id)}/messages`),
      artifacts: async (id) => call('GET', `${await at('sessions', id)}/artifacts`),
      stop: async (id) => call('POST', `${await at('sessions', id)}/stop`),
      remove: async (id) => call('DELETE', await at('sessions', id)),
    },
    runs: makeRuns(call, references, { address, signal }),
    connections: makeConnections(call, references),
    audit: makeAuditLog(call, references),
    inputs: makeInputs(call, references),
    insights: makeInsights(call, references),
    schedules: makeSchedules(send, references),
    webhooks: makeWebhooks(call, references),
    deliveries: makeDeliveries(call),
    webhookEvents: makeWebhookEvents(call, references),
    publishes: makePublishes(call, references),
    shares: makeShares(call),
    definitions: {
      list: (noun) => call('GET', `/${noun}`),
      get: (noun, ref) => call('GET', named(noun, ref)),
      check: (noun) => call('POST', `/definitions/${noun}/check`),
    },
    backups: makeBackups(address, signal),
    ...makeChecks(address, signal),
    wholeId: whole,
    queue: (limit) => call('GET', `/queue${queryOf({ limit })}`),
    download: (url) => openFile(address, url, signal),
    messages: makeMessages(address, signal),
    ofKey: (apiKey) => makeKeyVerbs(address, apiKey, signal),
    office: makeOffice(call, address, signal),
  };
}

const named = (noun: string, ref: string) => `/${noun}/${encodeURIComponent(ref)}`;

/** The verbs on people, what they prove themselves with, and what they may use. */
function makePeople(
  call: CallManagement,
  references: References,
): Pick<Client, 'users' | 'teams' | 'keys' | 'tokens' | 'budgets'> {
  const { at, whole } = references;
  const withTeam = async <F extends { readonly team?: string | null }>(fields: F): Promise<F> =>
    fields.team === undefined ? fields : { ...fields, team: await whole('teams', fields.team) };
  const withConnections = async (fields: KeyChangeWire | NewKeyWire): Promise<object> => {
    const ids = fields.capability_config?.connector_connection_ids;
    if (!ids) return fields;
    const connections = await Promise.all(ids.map((id) => whole('connections', id)));
    return { ...fields, capability_config: { ...fields.capability_config, connector_connection_ids: connections } };
  };
  return {
    budgets: makeBudgets(call, references),
    users: {
      list: () => call('GET', '/users'),
      get: async (ref) => call('GET', await at('users', ref)),
      create: async (input) => call('POST', '/users', await withTeam(input)),
      holdings: async (ref) => call('GET', `${await at('users', ref)}/holdings`),
      leave: async (ref, wish) => call('POST', `${await at('users', ref)}/leave`, wish),
      planImport: (input) => call('POST', '/users/plan-import', input),
      change: async (ref, fields) => call('PATCH', await at('users', ref), await withTeam(fields)),
      setPassword: async (ref, password) =>
        call(
          'PUT',
          `${await at('users', ref)}/password`,
          (password === undefined ? {} : { password }) satisfies NewPasswordWire,
        ),
    },
    teams: {
      list: () => call('GET', '/teams'),
      create: (input) => call('POST', '/teams', input),
      change: async (ref, fields) => call('PATCH', await at('teams', ref), fields),
    },
    keys: {
      list: async (userRef) => call('GET', `/keys${queryOf({ user: await whole('users', userRef) })}`),
      get: (id) => call('GET', named('keys', id)),
      create: async (input) =>
        call('POST', '/keys', await withConnections({ ...input, user: await whole('users', input.user) })),
      change: async (id, fields) => call('PATCH', named('keys', id), await withConnections(fields)),
      revoke: (id) => call('DELETE', named('keys', id)),
    },
    tokens: {
      listKeys: () => call('GET', '/tokens/keys'),
      rotate: () => call('POST', '/tokens/rotate'),
      revokeAll: () => call('POST', '/tokens/revoke-all'),
    },
  };
}
