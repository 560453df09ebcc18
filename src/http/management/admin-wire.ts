// Converts the management API's records and requests to domain values: users, teams, keys and the daemon's status.
import type { Defined, LostPins } from '../../domain/capabilities/pin.ts';
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { Team } from '../../domain/people/user.ts';
import type { MovablePin } from '../../operations/capabilities/pins.ts';
import type { KeyRecord, KeyWish, NewKey } from '../../operations/people/keys.ts';
import type { NewTeam, TeamChange } from '../../operations/people/teams.ts';
import type { NewUser, UserChange } from '../../operations/people/users.ts';
import type { UserRecord } from '../../store/people/users.ts';
import type { ConfigurationReport, StatusReport } from '../../operations/status.ts';
import type { DatabaseFigures } from '../../store/engine/inspect.ts';
import type { DefinedNamesWire, LostPinsWire } from '../../wire/capabilities/pin.ts';
import { AUTOMATIC, type KeyChangeWire, type KeyWire, type NewKeyWire } from '../../wire/people/key.ts';
import type { NewTeamWire, TeamChangeWire, TeamWire } from '../../wire/people/team.ts';
import type { NewUserWire, PasswordWire, UserChangeWire, UserWire } from '../../wire/people/user.ts';
import type { ConfigurationWire, DatabaseWire, StatusWire } from '../../wire/status.ts';
import { choiceOf, renderCapabilities, renderCapabilityNames } from './capability-wire.ts';

export function newUserOf(body: NewUserWire): NewUser {
  return {
    username: body.username,
    fullName: body.full_name ?? null,
    department: body.department ?? null,
    role: body.role ?? null,
    team: body.team ?? null,
    scenario: body.scenario ?? null,
    password: body.password ?? null,
  };
}

export function userChangeOf({ full_name: fullName, ...rest }: UserChangeWire): UserChange {
  return { ...(fullName !== undefined && { fullName }), ...rest };
}

export function newTeamOf(body: NewTeamWire): NewTeam {
  return { name: body.name, budgetUsd: body.budget_amount_usd ?? null };
}

export function teamChangeOf({ budget_amount_usd: budgetUsd, ...rest }: TeamChangeWire): TeamChange {
  return { ...(budgetUsd !== undefined && { budgetUsd }), ...rest };
}

export function newKeyOf(body: NewKeyWire): NewKey {
  const { capability_config: choice } = body;
  return {
    user: body.user,
    scope: body.scope,
    name: body.name ?? null,
    model: modelOf(body.model ?? AUTOMATIC),
    target: body.target ?? 'free',
    capabilityChoice: choice === undefined || choice === null ? null : choiceOf(choice),
    projectId: body.project_id ?? null,
    expiresInSeconds: body.expires_in_seconds ?? null,
  };
}

export function keyWishOf({ capability_config: choice, model, ...rest }: KeyChangeWire): KeyWish {
  return {
    ...rest,
    ...(model !== undefined && { model: modelOf(model) }),
    ...(choice !== undefined && { capabilityChoice: choiceOf(choice) }),
  };
}

function modelOf(model: string): string | null {
  return model === AUTOMATIC ? null : model;
}

export function renderUser(user: UserRecord): UserWire {
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
    workspace_bytes: user.workspaceBytes,
    created_at: isoTime(user.createdAt),
    updated_at: isoTime(user.updatedAt),
  };
}

/** The user whose password was set. */
export function renderUserName(user: UserRecord): PasswordWire {
  return { user_id: user.id, username: user.username };
}

export function renderTeam(team: Team): TeamWire {
  return {
    id: team.id,
    name: team.name,
    budget_amount_usd: team.budgetUsd,
    created_at: isoTime(team.createdAt),
    updated_at: isoTime(team.updatedAt),
  };
}

export function renderKey(key: KeyRecord): KeyWire {
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

export function definedOf({ models, scenarios, experts, teams }: DefinedNamesWire): Defined {
  return { model: new Set(models), scenario: new Set(scenarios), expert: new Set(experts), team: new Set(teams) };
}

export function renderLostPins({ pins, total }: LostPins<MovablePin>): LostPinsWire {
  return {
    pins: pins.map(({ holder, id, name, username, kind, to, command }) => {
      return { holder, id, name, username, kind, to, command };
    }),
    total,
  };
}

export function renderConfiguration({ configDir, problems, pins, settings }: ConfigurationReport): ConfigurationWire {
  return {
    config_dir: configDir,
    problems: problems.map(({ file, line, column, message }) => ({ file, line, column, message })),
    pins: renderLostPins(pins),
    settings: settings.map(({ name, value, origin, source }) => ({ name, value, origin, source })),
  };
}

export function renderDatabase(figures: DatabaseFigures): DatabaseWire {
  return {
    schema_version: figures.schemaVersion,
    known_version: figures.knownVersion,
    sqlite_version: figures.sqliteVersion,
    size_bytes: figures.sizeBytes,
    wal_bytes: figures.walBytes,
    free_pages: figures.freePages,
    page_size: figures.pageSize,
    tables: figures.tables.map(({ name, rows, more }) => ({ name, rows, more })),
  };
}

export function renderStatus(status: StatusReport): StatusWire {
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
    webhooks: renderTrouble(status.webhooks),
    models: status.models,
  };
}

function renderTrouble({ failing, disabled, webhooks }: StatusReport['webhooks']): StatusWire['webhooks'] {
  const troubled = webhooks.map(({ id, name, failingSince, failures, disabledReason }) => ({
    id,
    name,
    failing_since: isoTimeOrNull(failingSince),
    failures,
    disabled_reason: disabledReason,
  }));
  return { failing, disabled, troubled };
}
