// The management interface's JSON: what the daemon answers, and how the client's inputs are written for it.
import type { CheckWire } from './definition-wire.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { KeyScope, Role } from '../../domain/user.ts';

/** A person. `team` is the team's name. `password` is there only once, when the daemon has made it up. */
export interface UserWire {
  readonly user_id: string;
  readonly username: string;
  readonly full_name: string;
  readonly department: string;
  readonly role: Role;
  readonly team: string | null;
  readonly functional_role: string | null;
  readonly scenario: string | null;
  readonly disabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly password?: string;
}

/** The answer to a new password. `password` is there only when the daemon has made it up. */
export interface PasswordWire {
  readonly user_id: string;
  readonly username: string;
  readonly password?: string;
}

/** A team of people. */
export interface TeamWire {
  readonly id: string;
  readonly name: string;
  readonly budget_amount_usd: number | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An API key. `key` is the secret: there only in the answer that created it. */
export interface KeyWire {
  readonly id: string;
  readonly name: string;
  readonly user_id: string;
  readonly username: string;
  readonly scope: KeyScope;
  readonly last_four: string;
  readonly model: string;
  readonly target: string;
  /** What a session that it opens now may use. */
  readonly capability_config: {
    readonly browser_enabled: boolean;
    readonly browser_impl: string;
    readonly mcp_server_ids: readonly number[];
    readonly skill_ids: readonly number[];
    readonly connector_connection_ids: readonly string[];
    readonly plugin_ids: readonly number[];
    readonly subagent_ids: readonly number[];
  };
  readonly capability_names: {
    readonly mcp_servers: readonly string[];
    readonly skills: readonly string[];
    readonly plugins: readonly string[];
    readonly subagents: readonly string[];
  };
  readonly project_id: string | null;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly created_at: string;
  readonly key?: string;
}

/** A key that login tokens are signed with. One is `signing`; `verifying` ones are good for tokens issued before. */
export interface SigningKeyWire {
  readonly id: string;
  readonly state: 'signing' | 'verifying' | 'revoked';
  readonly created_at: string;
  readonly retired_at: string | null;
  readonly revoked_at: string | null;
}

/** One part of the daemon and how it is doing. */
export interface PartWire {
  readonly name: string;
  readonly state: 'ok' | 'degraded' | 'failed';
  readonly detail: string | null;
}

/** What `errand status` shows. */
export interface StatusWire {
  readonly version: string;
  readonly node_version: string;
  readonly pid: number;
  readonly started_at: string;
  readonly uptime_seconds: number;
  readonly ready: boolean;
  readonly listen: string;
  readonly public_url: string;
  readonly data_dir: string;
  readonly config_dir: string;
  readonly parts: readonly PartWire[];
  readonly runs: {
    readonly queued: number;
    readonly running: number;
    readonly waiting: number;
    readonly finalizing: number;
  };
  readonly workers: { readonly threads: number; readonly slots: number; readonly busy: number };
  readonly nodes: readonly { readonly id: string; readonly capacity: number; readonly online: boolean }[];
  readonly models: readonly {
    readonly name: string;
    readonly endpoint: string;
    readonly kind: string;
    readonly default: boolean;
  }[];
}

/** What a daemon is configured by, and what is wrong with its files now. */
export interface ConfigurationWire {
  readonly config_dir: string;
  readonly problems: CheckWire['problems'];
  readonly settings: readonly {
    readonly name: string;
    readonly value: unknown;
    readonly origin: string;
    readonly source: string | null;
  }[];
}

/** Every list of the management interface. */
export interface ListWire<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** What may be said of a person. In a change, null clears and what is absent stays. */
export interface UserFields {
  readonly fullName?: string;
  readonly department?: string;
  readonly role?: Role;
  readonly team?: string | null;
  readonly scenario?: string | null;
  readonly disabled?: boolean;
}

/** What may be said of a team. In a change, a null budget means none. */
export interface TeamFields {
  readonly name?: string;
  readonly budgetUsd?: number | null;
}

/** What agents of a key may use in free mode: names or ids; null gives a field back to the defaults. */
export interface CapabilityWish {
  readonly browser_enabled?: boolean | null;
  readonly mcp_server_ids?: readonly (string | number)[] | null;
  readonly skill_ids?: readonly (string | number)[] | null;
  readonly connector_connection_ids?: readonly string[] | null;
  readonly plugin_ids?: readonly (string | number)[] | null;
  readonly subagent_ids?: readonly (string | number)[] | null;
}

/** What may change of a key. */
export interface KeyFields {
  readonly name?: string;
  readonly model?: string;
  readonly target?: string;
  readonly capabilityConfig?: CapabilityWish;
}

/** What a new key is for. */
export interface NewKey extends KeyFields {
  readonly user: string;
  readonly scope: KeyScope;
  readonly projectId?: string;
  readonly expiresInSeconds?: number;
}

const WIRE_NAMES = {
  username: 'username',
  password: 'password',
  fullName: 'full_name',
  department: 'department',
  role: 'role',
  team: 'team',
  scenario: 'scenario',
  disabled: 'disabled',
  name: 'name',
  budgetUsd: 'budget_amount_usd',
  user: 'user',
  scope: 'scope',
  model: 'model',
  target: 'target',
  projectId: 'project_id',
  expiresInSeconds: 'expires_in_seconds',
} as const;

type Input = { readonly [Name in keyof typeof WIRE_NAMES]?: JsonValue };

/** Writes what is said of a key for the wire. */
export function keyBodyOf({ capabilityConfig, ...fields }: Partial<NewKey>): JsonObject {
  return {
    ...bodyOf(fields),
    ...(capabilityConfig !== undefined && { capability_config: { ...capabilityConfig } as JsonObject }),
  };
}

/** Writes an input for the wire. What is absent or undefined stays absent. */
export function bodyOf(input: Input): JsonObject {
  const body: JsonObject = {};
  for (const [name, wireName] of Object.entries(WIRE_NAMES)) {
    const value = input[name as keyof Input];
    if (value !== undefined) body[wireName] = value;
  }
  return body;
}
