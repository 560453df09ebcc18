// Kinds of the rows that several stations read, and the domain values that they are.
import type { JsonValue } from '../domain/json.ts';
import type { ResponseEcho, ResultTool, Run, RunError } from '../domain/sessions/run.ts';
import type { Session } from '../domain/sessions/session.ts';
import type { Usage } from '../domain/sessions/usage.ts';
import type { ApiKey, User } from '../domain/people/user.ts';
import { flag, json, plain, rowKind } from './engine/row.ts';

export const USER = rowKind<User>({
  seq: plain,
  id: plain,
  username: plain,
  fullName: plain,
  department: plain,
  role: plain,
  teamId: plain,
  functionalRole: plain,
  scenario: plain,
  disabled: flag,
  createdAt: plain,
  updatedAt: plain,
});

/** Rows of teams with the limit of their budgets in US dollars by day, to be followed by conditions. */
export const SELECT_TEAM = `SELECT teams.id, teams.name, (SELECT b.amount FROM budgets b WHERE b.team_id = teams.id AND b.unit = 'usd'
  AND b.period = 'day') AS budget_usd, teams.created_at, teams.updated_at FROM teams`;

export const API_KEY = rowKind<ApiKey>({
  seq: plain,
  id: plain,
  userSeq: plain,
  name: plain,
  scope: plain,
  lastFour: plain,
  model: plain,
  target: plain,
  capabilityConfig: json,
  projectId: plain,
  continueBy: plain,
  expiresAt: plain,
  lastUsedAt: plain,
  revokedAt: plain,
  createdAt: plain,
});

export const SESSION = rowKind<Session>({
  seq: plain,
  id: plain,
  userSeq: plain,
  keySeq: plain,
  kind: plain,
  title: plain,
  status: plain,
  projectId: plain,
  createdAt: plain,
  updatedAt: plain,
  deletedAt: plain,
  originSession: plain,
  originRun: plain,
});

/** The tokens of whatever a row is about. */
export const USAGE = rowKind<Usage>({
  inputTokens: plain,
  outputTokens: plain,
  cacheReadTokens: plain,
  cacheWriteTokens: plain,
});

/** The part of a run that its end determines. */
export type RunOutcome = Pick<
  Run,
  'status' | 'usage' | 'costUsd' | 'stopReason' | 'error' | 'answer' | 'structuredOutput' | 'finishedAt'
>;

export const OUTCOME = rowKind<RunOutcome>({
  status: plain,
  usage: USAGE,
  costUsd: plain,
  stopReason: plain,
  error: json<RunError | null>,
  answer: plain,
  // Null may be the result.
  structuredOutput: (text: string | null) => (text === null ? null : { value: JSON.parse(text) as JsonValue }),
  finishedAt: plain,
});

export const RUN = rowKind<Run>({
  seq: plain,
  id: plain,
  sessionSeq: plain,
  sessionId: plain,
  userSeq: plain,
  keySeq: plain,
  protocol: plain,
  scheduleMode: plain,
  attempt: plain,
  resumes: plain,
  requestedModel: plain,
  model: plain,
  includeUsage: flag,
  wantsStructured: flag,
  resultInContent: flag,
  resultTool: json<ResultTool | null>,
  ...OUTCOME.fields,
  backgroundPayload: plain,
  response: json<ResponseEcho | null>,
  createdAt: plain,
  startedAt: plain,
});

/** The answer of a run `r`: the text of its last step, unless it has another one, such as a structured result. */
export const ANSWER = `CASE WHEN r.outcome = 'completed' THEN coalesce(r.answer,
  (SELECT last.text FROM steps last WHERE last.run_seq = r.seq ORDER BY last.step DESC LIMIT 1)) END AS answer`;

/** The columns of an outcome, of a run `r`. */
export const OUTCOME_COLUMNS = `r.status, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd,
  r.stop_reason, r.error, ${ANSWER}, r.structured_output, r.finished_at`;

/** The protocol that a run `r` was asked in. */
const PROTOCOL = "CASE WHEN r.response IS NULL THEN r.protocol ELSE 'responses' END AS protocol";

/** The columns of a run `r` with its session `s`. */
export const RUN_COLUMNS = `r.seq, r.id, r.session_seq, s.id AS session_id, r.user_seq, r.key_seq, ${PROTOCOL}, r.schedule_mode, r.attempt,
  r.resumes, r.requested_model, r.model, r.include_usage, r.output_schema IS NOT NULL AS wants_structured, r.result_in_content,
  r.result_tool,   ${OUTCOME_COLUMNS}, r.background_payload, r.response, r.created_at, r.started_at`;
