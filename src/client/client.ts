// The typed client of a running daemon: the verbs that the command line and the terminal view speak.
import type { IncomingMessage } from 'node:http';
import {
  type DefinitionCheckWire,
  type DefinitionNoun,
  definitionsOf,
  type DefinitionWire,
} from '../wire/capabilities/definition.ts';
import { installation } from '../wire/installation.ts';
import { mcpServers, models } from '../wire/capabilities/model.ts';
import type { ListWire } from '../wire/listing.ts';
import { nodes } from '../wire/nodes.ts';
import { teams } from '../wire/people/team.ts';
import { tokens } from '../wire/people/token.ts';
import { type PasswordWire, users } from '../wire/people/user.ts';
import type { QueueWire } from '../wire/sessions/queue.ts';
import type { StatusWire } from '../wire/status.ts';
import { type AuditLog, makeAuditLog } from './audit.ts';
import { type Backups, makeBackups } from './backups.ts';
import { type Budgets, makeBudgets } from './budgets.ts';
import { type Connections, makeConnections } from './connections.ts';
import { makeMessages, type Messages } from './turns/conversation.ts';
import { type KeyVerbs, makeKeyVerbs } from './key-verbs.ts';
import { type RelayParts, relayMcp } from './mcp/relay.ts';
import { makeOffice, type Office } from './office.ts';
import { type Keys, makeKeys } from './keys.ts';
import { openFile } from './transport/download.ts';
import { callManagement } from './transport/exchange.ts';
import { makePublishes, makeShares, type Publishes, type Shares } from './publishing.ts';
import { type Inputs, type Insights, makeInputs, makeInsights } from './turns/questions.ts';
import { type CallManagement, type CompleteAny, makeCompletion } from './references.ts';
import { sessions } from '../wire/sessions/session.ts';
import { makeRetentionVerbs, type RetentionVerbs } from './retention.ts';
import { makeSchedules, type Schedules } from './schedules.ts';
import { makeRuns, type Runs } from './runs.ts';
import type { Address, Call } from './transport/transport.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';
import { makeWebhookEvents, type WebhookEvents } from './webhook-events.ts';
import { deliveries } from '../wire/webhooks/delivery.ts';
import { webhooks } from '../wire/webhooks/webhook.ts';

/** Verbs per noun. Every id may be the start of one; a `ref` is an id, the start of one, or a name. Every verb throws ClientError. */
export interface Client extends Omit<Verbs<typeof installation>, 'status'> {
  /** Waits for an answer for 30 seconds unless told otherwise. */
  status(within?: { readonly timeoutMs: number }): Promise<StatusWire>;
  readonly retention: RetentionVerbs;
  readonly nodes: Verbs<typeof nodes>;
  readonly users: Omit<Verbs<typeof users>, 'setPassword'> & {
    /** Without a password, the daemon generates one and returns it. */
    setPassword(ref: string, password?: string): Promise<PasswordWire>;
  };
  readonly teams: Verbs<typeof teams>;
  readonly keys: Keys;
  readonly tokens: Verbs<typeof tokens>;
  readonly sessions: Verbs<typeof sessions>;
  readonly runs: Runs;
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly models: Verbs<typeof models>;
  readonly mcpServers: Verbs<typeof mcpServers>;
  readonly audit: AuditLog;
  readonly backups: Backups;
  readonly inputs: Inputs;
  readonly insights: Insights;
  readonly schedules: Schedules;
  readonly webhooks: Verbs<typeof webhooks>;
  readonly deliveries: Verbs<typeof deliveries>;
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
  readonly wholeId: CompleteAny;
  /** Opens a file at one of the daemon's signed addresses, over this client's own connection. */
  download(url: string): Promise<IncomingMessage>;
  readonly messages: Messages;
  /** What a key does with its own sessions. */
  ofKey(apiKey: string): KeyVerbs;
  /** Answers a client of the Model Context Protocol on two streams, with a key, until the first ends. */
  relayMcp(apiKey: string, streams: Pick<RelayParts, 'input' | 'output'>): Promise<void>;
  readonly office: Office;
}

/** Makes a client of the daemon at an address. `signal` ends whatever is in progress. Opens no connection yet. */
export function makeClient(address: Address, signal?: AbortSignal): Client {
  const call = <T>(method: Call['method'], path: string, body?: object, timeoutMs?: number) =>
    callManagement<T>(address, {
      method,
      path,
      ...(body !== undefined && { body }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(signal && { signal }),
    });
  const whole = makeCompletion(call);
  const definitions = <N extends DefinitionNoun>(noun: N) => verbsOf(definitionsOf(noun), call, whole);
  const runs = makeRuns(call, whole, { address, signal });
  return {
    ...verbsOf(installation, call, whole),
    status: (within) => call('GET', '/api/v1/status', undefined, within?.timeoutMs),
    retention: makeRetentionVerbs(call, whole),
    nodes: verbsOf(nodes, call, whole),
    users: makeUsers(call, whole),
    teams: verbsOf(teams, call, whole),
    keys: makeKeys(call, whole),
    tokens: verbsOf(tokens, call, whole),
    budgets: makeBudgets(call, whole),
    sessions: verbsOf(sessions, call, whole),
    runs,
    connections: makeConnections(call, whole),
    models: verbsOf(models, call, whole),
    mcpServers: verbsOf(mcpServers, call, whole),
    audit: makeAuditLog(call, whole),
    inputs: makeInputs(call, whole),
    insights: makeInsights(call, whole),
    schedules: makeSchedules(call, whole),
    webhooks: verbsOf(webhooks, call, whole),
    deliveries: verbsOf(deliveries, call, whole),
    webhookEvents: makeWebhookEvents(call, whole),
    publishes: makePublishes(call, whole),
    shares: makeShares(call, whole),
    definitions: {
      list: async (noun) => definitions(noun).list(),
      get: async (noun, ref) => definitions(noun).get(ref),
      check: async (noun) => definitions(noun).check(),
    },
    backups: makeBackups(call, whole, { address, signal }),
    wholeId: whole,
    queue: async (limit) => runs.queue({ limit }),
    download: (url) => openFile(address, url, signal),
    messages: makeMessages(address, signal),
    ofKey: (apiKey) => makeKeyVerbs(address, apiKey, signal),
    relayMcp: (apiKey, streams) =>
      relayMcp({ address, apiKey, ...streams, signal: signal ?? new AbortController().signal }),
    office: makeOffice(call, whole, { address, signal }),
  };
}

/** The verbs on users. */
function makeUsers(call: CallManagement, complete: Complete): Client['users'] {
  const verbs = verbsOf(users, call, complete);
  return {
    ...verbs,
    setPassword: async (ref, password) => verbs.setPassword(ref, password === undefined ? {} : { password }),
  };
}
