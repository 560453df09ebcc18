// The management API's records and requests: users, teams, keys and the daemon's status.
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { unprocessable } from '../../domain/errors.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { KEY_SCOPES, type Role, type Team } from '../../domain/user.ts';
import type { KeyRecord, KeyWish, NewKey } from '../../operations/people/keys.ts';
import type { NewTeam, TeamChange } from '../../operations/people/teams.ts';
import type { NewUser, UserChange, UserRecord } from '../../operations/people/users.ts';
import { readCapabilityChoice, renderCapabilities, renderCapabilityNames } from './capability-wire.ts';
import {
  lineOfAtMost,
  oneOf,
  optional,
  type Reader,
  readBoolean,
  readInteger,
  readNumber,
  readUuid,
  textOfAtMost,
} from '../frame/fields.ts';
import type { ConfigurationReport, StatusReport } from '../../operations/status.ts';

const ROLES = ['admin', 'user'] as const satisfies readonly Role[];
const AUTOMATIC = 'auto';
const MAX_EXPIRY_SECONDS = 100 * 365 * 24 * 3600;

const readName = lineOfAtMost(200);
const readRole = oneOf(ROLES);
const readPassword = textOfAtMost(1_000);

/** A line that may be empty, such as a department. */
const readLabel: Reader<string> = (value, path) => (value === '' ? '' : readName(value, path));

const readBudget: Reader<number> = (value, path) => {
  const budget = readNumber(value, path);
  if (budget < 0) throw unprocessable(path, 'must not be negative');
  return budget;
};

const readExpiry: Reader<number> = (value, path) => {
  const seconds = readInteger(value, path);
  if (seconds < 1 || seconds > MAX_EXPIRY_SECONDS)
    throw unprocessable(path, `must be from 1 to ${MAX_EXPIRY_SECONDS} seconds`);
  return seconds;
};

export function parseNewUser(body: JsonObject): NewUser {
  return {
    username: readName(body['username'], 'username'),
    fullName: optional(body['full_name'], 'full_name', readLabel),
    department: optional(body['department'], 'department', readLabel),
    role: optional(body['role'], 'role', readRole),
    team: optional(body['team'], 'team', readName),
    scenario: optional(body['scenario'], 'scenario', readName),
    password: parsePassword(body),
  };
}

/** The password to set, or null when the daemon is to make one. */
export function parsePassword(body: JsonObject): string | null {
  return optional(body['password'], 'password', readPassword);
}

export function parseUserChange(body: JsonObject): UserChange {
  return requireChange({
    ...given(body, 'full_name', 'fullName', readLabel),
    ...given(body, 'department', 'department', readLabel),
    ...given(body, 'role', 'role', readRole),
    ...given(body, 'team', 'team', orNull(readName)),
    ...given(body, 'scenario', 'scenario', orNull(readName)),
    ...given(body, 'disabled', 'disabled', readBoolean),
  });
}

export function parseNewTeam(body: JsonObject): NewTeam {
  return {
    name: readName(body['name'], 'name'),
    budgetUsd: optional(body['budget_amount_usd'], 'budget_amount_usd', readBudget),
  };
}

export function parseTeamChange(body: JsonObject): TeamChange {
  return requireChange({
    ...given(body, 'name', 'name', readName),
    ...given(body, 'budget_amount_usd', 'budgetUsd', orNull(readBudget)),
  });
}

export function parseNewKey(body: JsonObject): NewKey {
  const target = optional(body['target'], 'target', readName) ?? 'free';
  return {
    user: readName(body['user'], 'user'),
    scope: oneOf(KEY_SCOPES)(body['scope'], 'scope'),
    name: optional(body['name'], 'name', readLabel),
    model: optional(body['model'], 'model', readModel),
    target,
    capabilityChoice: optional(body['capability_config'], 'capability_config', readCapabilityChoice),
    projectId: optional(body['project_id'], 'project_id', readUuid),
    expiresInSeconds: optional(body['expires_in_seconds'], 'expires_in_seconds', readExpiry),
  };
}

const readModel: Reader<string | null> = (value, path) => {
  const model = readName(value, path);
  return model === AUTOMATIC ? null : model;
};

export function parseKeyWish(body: JsonObject): KeyWish {
  return requireChange({
    ...given(body, 'name', 'name', readLabel),
    ...given(body, 'model', 'model', readModel),
    ...given(body, 'target', 'target', readName),
    ...given(body, 'capability_config', 'capabilityChoice', readCapabilityChoice),
  });
}

/** A field of a change under its own name when the request has it, else nothing. */
function given<K extends string, T>(
  body: JsonObject,
  field: string,
  name: K,
  read: Reader<T>,
): { readonly [P in K]?: T } {
  return (Object.hasOwn(body, field) ? { [name]: read(body[field], field) } : {}) as { readonly [P in K]?: T };
}

function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value: JsonValue | undefined, path) => (value === null ? null : read(value, path));
}

function requireChange<T extends object>(change: T): T {
  if (Object.keys(change).length === 0) throw unprocessable('body', 'must name at least one field to change');
  return change;
}

export function renderUser(user: UserRecord): object {
  return {
    user_id: user.id,
    username: user.username,
    full_name: user.fullName,
    department: user.department,
    role: user.role,
    team: user.teamName,
    functional_role: user.functionalRole,
    scenario: user.scenario,
    disabled: user.disabled,
    created_at: isoTime(user.createdAt),
    updated_at: isoTime(user.updatedAt),
  };
}

/** Whose password was set. */
export function renderUserName(user: UserRecord): object {
  return { user_id: user.id, username: user.username };
}

export function renderTeam(team: Team): object {
  return {
    id: team.id,
    name: team.name,
    budget_amount_usd: team.budgetUsd,
    created_at: isoTime(team.createdAt),
    updated_at: isoTime(team.updatedAt),
  };
}

export function renderKey(key: KeyRecord): object {
  return {
    id: key.id,
    name: key.name,
    user_id: key.userId,
    username: key.username,
    scope: key.scope,
    last_four: key.lastFour,
    model: key.model ?? AUTOMATIC,
    target: key.target,
    capability_config: renderCapabilities(key.capabilities),
    capability_names: renderCapabilityNames(key.capabilityNames),
    project_id: key.projectId,
    expires_at: isoTimeOrNull(key.expiresAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    created_at: isoTime(key.createdAt),
  };
}

export function renderConfiguration({ configDir, problems, settings }: ConfigurationReport): object {
  return {
    config_dir: configDir,
    problems: problems.map(({ file, line, column, message }) => ({ file, line, column, message })),
    settings: settings.map(({ name, value, origin, source }) => ({ name, value, origin, source })),
  };
}

export function renderStatus(status: StatusReport): object {
  return {
    version: status.version,
    node_version: status.nodeVersion,
    pid: status.pid,
    started_at: isoTime(status.startedAt),
    uptime_seconds: status.uptimeSeconds,
    ready: status.ready,
    listen: status.listen,
    public_url: status.publicUrl,
    data_dir: status.dataDir,
    config_dir: status.configDir,
    parts: status.parts.map(({ name, state, detail }) => ({ name, state, detail })),
    runs: status.runs,
    workers: status.workers,
    nodes: status.nodes.map(({ id, capacity, online }) => ({ id, capacity, online })),
    models: status.models,
  };
}
