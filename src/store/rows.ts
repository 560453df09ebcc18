// Row types of the tables, and their conversion to domain values.
import type { CapabilityConfig } from '../domain/capabilities/capability-config.ts';
import type { JsonValue } from '../domain/json.ts';
import type { Run, RunError, RunState, StopReason } from '../domain/sessions/run.ts';
import type { Session } from '../domain/sessions/session.ts';
import type { StopCause } from '../domain/sessions/stop.ts';
import type { ApiKey, KeyScope, Role, Team, User } from '../domain/people/user.ts';
import { ANSWER } from './runs/progress/replies.ts';

export interface UserRow {
  seq: number;
  id: string;
  username: string;
  full_name: string;
  department: string;
  role: Role;
  team_id: string | null;
  functional_role: string | null;
  scenario: string | null;
  disabled: number;
  password_hash: string;
  account: string;
  exact_only: number;
  token_generation: number;
  workspace_bytes: number;
  created_at: number;
  updated_at: number;
}

/** What `toUser` reads, but for the key. */
export const USER_COLUMNS = [
  'id',
  'username',
  'full_name',
  'department',
  'role',
  'team_id',
  'functional_role',
  'scenario',
  'disabled',
  'created_at',
  'updated_at',
] as const;

export function toUser(row: Pick<UserRow, 'seq' | (typeof USER_COLUMNS)[number]>): User {
  return {
    seq: row.seq,
    id: row.id,
    username: row.username,
    fullName: row.full_name,
    department: row.department,
    role: row.role,
    teamId: row.team_id,
    functionalRole: row.functional_role,
    scenario: row.scenario,
    disabled: row.disabled === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export interface TeamRow {
  id: string;
  name: string;
  /** The limit of its budget in US dollars by day. */
  budget_usd: number | null;
  created_at: number;
  updated_at: number;
}

/** Rows of teams, to be followed by conditions. */
export const SELECT_TEAM = `SELECT teams.*, (SELECT b.amount FROM budgets b WHERE b.team_id = teams.id AND b.unit = 'usd'
  AND b.period = 'day') AS budget_usd FROM teams`;

export function toTeam(row: TeamRow): Team {
  return {
    id: row.id,
    name: row.name,
    budgetUsd: row.budget_usd,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export interface ApiKeyRow {
  seq: number;
  id: string;
  user_seq: number;
  name: string;
  scope: KeyScope;
  last_four: string;
  model: string | null;
  target: string;
  capability_config: string;
  project_id: string | null;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  created_at: number;
}

/** What `toApiKey` reads. */
export const KEY_COLUMNS: readonly (keyof ApiKeyRow)[] = [
  'seq',
  'id',
  'user_seq',
  'name',
  'scope',
  'last_four',
  'model',
  'target',
  'capability_config',
  'project_id',
  'expires_at',
  'last_used_at',
  'revoked_at',
  'created_at',
];

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    seq: row.seq,
    id: row.id,
    userSeq: row.user_seq,
    name: row.name,
    scope: row.scope,
    lastFour: row.last_four,
    model: row.model,
    target: row.target,
    capabilityConfig: JSON.parse(row.capability_config) as Partial<CapabilityConfig>,
    projectId: row.project_id,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    createdAt: row.created_at,
  };
}

export interface SessionRow {
  seq: number;
  id: string;
  user_seq: number;
  key_seq: number | null;
  kind: Session['kind'];
  title: string;
  status: Session['status'];
  project_id: string | null;
  target: string;
  capability_config: string;
  orchestration: string | null;
  lead_model: string | null;
  stop_requested_at: number | null;
  stop_confirmed_at: number | null;
  stop_cause: StopCause | null;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export function toSession(row: SessionRow): Session {
  return {
    seq: row.seq,
    id: row.id,
    userSeq: row.user_seq,
    keySeq: row.key_seq,
    kind: row.kind,
    title: row.title,
    status: row.status,
    projectId: row.project_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  };
}

/** The columns of a run with its session's id. */
export const RUN_COLUMNS = `r.seq, r.id, r.session_seq, s.id AS session_id, r.user_seq, r.key_seq, r.protocol, r.status,
  r.schedule_mode, r.attempt, r.resumes, r.requested_model, r.model, r.include_usage, r.input_tokens, r.output_tokens,
  r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.stop_reason, r.error, ${ANSWER}, r.structured_output,
  r.background_payload, r.output_schema IS NOT NULL AS wants_structured, r.result_in_content, r.created_at,
  r.started_at, r.finished_at`;

export interface RunRow {
  seq: number;
  id: string;
  session_seq: number;
  session_id: string;
  user_seq: number;
  key_seq: number | null;
  protocol: Run['protocol'];
  status: RunState;
  schedule_mode: Run['scheduleMode'];
  attempt: number;
  resumes: number;
  requested_model: string;
  model: string | null;
  include_usage: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd: number;
  stop_reason: StopReason | null;
  error: string | null;
  answer: string | null;
  structured_output: string | null;
  background_payload: string | null;
  wants_structured: number;
  result_in_content: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
}

export function toRun(row: RunRow): Run {
  return {
    seq: row.seq,
    id: row.id,
    sessionSeq: row.session_seq,
    sessionId: row.session_id,
    userSeq: row.user_seq,
    keySeq: row.key_seq,
    protocol: row.protocol,
    scheduleMode: row.schedule_mode,
    attempt: row.attempt,
    resumes: row.resumes,
    requestedModel: row.requested_model,
    model: row.model,
    includeUsage: row.include_usage === 1,
    wantsStructured: row.wants_structured === 1,
    resultInContent: row.result_in_content === 1,
    ...toOutcome(row),
    backgroundPayload: row.background_payload,
    createdAt: row.created_at,
    startedAt: row.started_at,
  };
}

/** The columns of a run `r` that its end determines. */
export const OUTCOME_COLUMNS = [
  'status',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_usd',
  'stop_reason',
  'error',
  'answer',
  'structured_output',
  'finished_at',
] as const;

export type OutcomeRow = Pick<RunRow, (typeof OUTCOME_COLUMNS)[number]>;

/** The part of a run that its end determines. */
export type RunOutcome = ReturnType<typeof toOutcome>;

export function toOutcome(row: OutcomeRow) {
  return {
    status: row.status,
    usage: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      cacheReadTokens: row.cache_read_tokens,
      cacheWriteTokens: row.cache_write_tokens,
    },
    costUsd: row.cost_usd,
    stopReason: row.stop_reason,
    error: row.error === null ? null : (JSON.parse(row.error) as RunError),
    answer: row.answer,
    structuredOutput: row.structured_output === null ? null : { value: JSON.parse(row.structured_output) as JsonValue },
    finishedAt: row.finished_at,
  };
}
