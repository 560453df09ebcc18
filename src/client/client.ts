// The typed client of a running daemon: the verbs that the command line and the terminal view speak.
import { makeMessages, type Messages } from './conversation.ts';
import { callManagement } from './exchange.ts';
import { bodyOf } from './management-wire.ts';
import type {
  KeyWire,
  ListWire,
  NewKey,
  PasswordWire,
  SigningKeyWire,
  StatusWire,
  TeamFields,
  TeamWire,
  UserFields,
  UserWire,
} from './management-wire.ts';
import { tailRun, type TailOptions } from './run-tail.ts';
import { queryOf } from './session-wire.ts';
import type {
  DeletionWire,
  HistoryWire,
  QueueWire,
  RunEventWire,
  RunQuery,
  RunWire,
  SessionQuery,
  SessionWire,
  StopWire,
} from './session-wire.ts';
import type { Address, Call } from './transport.ts';

/** Verbs per noun. A `ref` is an id or a name. Every verb throws ClientError. */
export interface Client {
  status(): Promise<StatusWire>;
  readonly users: {
    list(): Promise<ListWire<UserWire>>;
    get(ref: string): Promise<UserWire>;
    create(input: UserFields & { readonly username: string; readonly password?: string }): Promise<UserWire>;
    change(ref: string, fields: UserFields): Promise<UserWire>;
    /** Without a password the daemon makes one up and answers it. */
    setPassword(ref: string, password?: string): Promise<PasswordWire>;
  };
  readonly teams: {
    list(): Promise<ListWire<TeamWire>>;
    create(input: TeamFields & { readonly name: string }): Promise<TeamWire>;
    change(ref: string, fields: TeamFields): Promise<TeamWire>;
  };
  readonly keys: {
    list(userRef?: string): Promise<ListWire<KeyWire>>;
    get(id: string): Promise<KeyWire>;
    create(input: NewKey): Promise<KeyWire>;
    revoke(id: string): Promise<KeyWire>;
  };
  readonly tokens: {
    listKeys(): Promise<ListWire<SigningKeyWire>>;
    /** Answers the key that signs from now on. */
    rotate(): Promise<SigningKeyWire>;
    /** Refuses every login token issued before now; answers the key that signs from now on. */
    revokeAll(): Promise<SigningKeyWire>;
  };
  readonly sessions: {
    list(query: SessionQuery): Promise<ListWire<SessionWire>>;
    get(id: string): Promise<SessionWire>;
    /** The whole history. */
    messages(id: string): Promise<HistoryWire>;
    stop(id: string): Promise<StopWire>;
    remove(id: string): Promise<DeletionWire>;
  };
  readonly runs: {
    list(query: RunQuery): Promise<ListWire<RunWire>>;
    get(id: string): Promise<RunWire>;
    stop(id: string): Promise<StopWire>;
    /** The run's events from its first to its last, live and across broken connections. */
    tail(id: string, options?: Omit<TailOptions, 'signal'>): AsyncGenerator<RunEventWire, void, undefined>;
  };
  queue(limit?: number): Promise<QueueWire>;
  readonly messages: Messages;
}

/** Makes a client of the daemon at an address. `signal` ends whatever is under way. Opens no connection yet. */
export function makeClient(address: Address, signal?: AbortSignal): Client {
  const call = <T>(method: Call['method'], path: string, body?: Call['body']) =>
    callManagement<T>(address, {
      method,
      path: `/api/v1${path}`,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
  const at = (noun: string, ref: string) => `/${noun}/${encodeURIComponent(ref)}`;
  return {
    status: () => call('GET', '/status'),
    users: {
      list: () => call('GET', '/users'),
      get: (ref) => call('GET', at('users', ref)),
      create: (input) => call('POST', '/users', bodyOf(input)),
      change: (ref, fields) => call('PATCH', at('users', ref), bodyOf(fields)),
      setPassword: (ref, password) =>
        call('PUT', `${at('users', ref)}/password`, bodyOf(password === undefined ? {} : { password })),
    },
    teams: {
      list: () => call('GET', '/teams'),
      create: (input) => call('POST', '/teams', bodyOf(input)),
      change: (ref, fields) => call('PATCH', at('teams', ref), bodyOf(fields)),
    },
    keys: {
      list: (userRef) => call('GET', userRef === undefined ? '/keys' : `/keys?user=${encodeURIComponent(userRef)}`),
      get: (id) => call('GET', at('keys', id)),
      create: (input) => call('POST', '/keys', bodyOf({ ...input })),
      revoke: (id) => call('DELETE', at('keys', id)),
    },
    tokens: {
      listKeys: () => call('GET', '/tokens/keys'),
      rotate: () => call('POST', '/tokens/rotate'),
      revokeAll: () => call('POST', '/tokens/revoke-all'),
    },
    sessions: {
      list: (query) => call('GET', `/sessions${queryOf(query)}`),
      get: (id) => call('GET', at('sessions', id)),
      messages: (id) => call('GET', `${at('sessions', id)}/messages`),
      stop: (id) => call('POST', `${at('sessions', id)}/stop`),
      remove: (id) => call('DELETE', at('sessions', id)),
    },
    runs: {
      list: (query) => call('GET', `/runs${queryOf(query)}`),
      get: (id) => call('GET', at('runs', id)),
      stop: (id) => call('POST', `${at('runs', id)}/stop`),
      tail: (id, options = {}) => tailRun(address, id, { ...options, signal }),
    },
    queue: (limit) => call('GET', `/queue${queryOf({ limit })}`),
    messages: makeMessages(address, signal),
  };
}
