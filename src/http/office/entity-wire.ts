// A run as a row of Office Mode: its user, progress, cost, and what its agent is doing (§2.14, G1, G15).
import { activityOf } from '../../domain/sessions/activity.ts';
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { elapsedSeconds, OFFICE_STATUS, progressOf, UNASSIGNED_TEAM } from '../../domain/sessions/office.ts';
import { isTerminal } from '../../domain/sessions/run.ts';
import type { Glance } from '../../operations/office/floor.ts';
import { type ConversationAccess, conversationAccess } from '../../operations/office/conversation-access.ts';
import type { ModelWait, OfficeRun } from '../../store/office/office-runs.ts';
import type { EntityWire } from '../../wire/office/entity.ts';

/** The viewer, and the time of the view. */
export interface Look {
  readonly access: ConversationAccess;
  readonly at: number;
}

/** How a run looks to someone who watches the floor. */
export function lookAt({ userId }: OfficeRun, { caller, at }: Glance): Look {
  return { access: conversationAccess(caller, userId), at };
}

/** The team of a row; runs without one are in the virtual team (G19). A deleted team has no name any more. */
export function teamFields({ teamId, teamName }: Pick<OfficeRun, 'teamId' | 'teamName'>) {
  if (teamId === null) return { team_id: UNASSIGNED_TEAM.id, team_name: UNASSIGNED_TEAM.name };
  return { team_id: teamId, team_name: teamName ?? teamId };
}

/** A run as a row. */
export function renderEntity(run: OfficeRun, { access, at }: Look): EntityWire {
  const team = teamFields(run);
  return {
    id: run.id,
    kind: 'session-run',
    title: run.sessionTitle,
    subtitle: `${nameOf(run)} · ${team.team_name}`,
    status: OFFICE_STATUS[run.status],
    meta: `${compact(run.totalTokens)} ${run.totalTokens === 1 ? 'token' : 'tokens'} · ${dollars(run.costUsd)} · ${toolsOf(run)}`,
    progress: progressOf(run.status, run.steps),
    detail: detailOf(run),
    model_wait: run.modelWait === null ? null : renderModelWait(run.modelWait, at),
    ...team,
    run_id: run.id,
    session_id: run.sessionId,
    session_title: run.sessionTitle,
    user_id: run.userId,
    username: run.username,
    full_name: run.fullName,
    started_at: isoTimeOrNull(run.startedAt),
    finished_at: isoTimeOrNull(run.finishedAt),
    updated_at: isoTime(run.updatedAt),
    elapsed_seconds: elapsedSeconds(run.startedAt, run.finishedAt ?? at),
    last_error: run.error?.message ?? null,
    total_cost_usd: run.costUsd,
    total_tokens: run.totalTokens,
    message_count: run.messageCount,
    artifact_count: run.artifactCount,
    can_view_conversation: true,
    conversation_access_mode: access,
  };
}

function detailOf(run: OfficeRun): string | null {
  if (isTerminal(run.status)) return null;
  if (run.status === 'waiting') return `waits for ${nameOf(run)}`;
  if (run.status === 'queued') return 'waits for its turn';
  if (run.status === 'finalizing') return 'finishes';
  if (run.modelWait !== null) return `waits for the model ${run.modelWait.model}`;
  return run.call === null ? 'thinks' : activityOf(run.call.name, run.call.input);
}

function renderModelWait({ model, agent, message, since }: ModelWait, at: number): EntityWire['model_wait'] {
  return { model, agent, since: isoTime(since), waited_seconds: elapsedSeconds(since, at), message };
}

const nameOf = ({ fullName, username }: OfficeRun) => (fullName === '' ? username : fullName);
const toolsOf = ({ toolCount }: OfficeRun) => `${toolCount} ${toolCount === 1 ? 'tool' : 'tools'}`;

const UNITS = [
  [1_000_000_000, 'G'],
  [1_000_000, 'M'],
  [1_000, 'k'],
] as const;

/** Such as `18.2k`. */
function compact(count: number): string {
  // A number that would round up to the next unit is shown in that unit.
  const [size, unit] = UNITS.find(([size]) => count >= size * 0.99995) ?? [1, ''];
  return size === 1 ? String(count) : `${(count / size).toFixed(1)}${unit}`;
}

/** In cents, or, below one cent, to its first significant figures. */
function dollars(usd: number): string {
  return usd === 0 || usd >= 0.01 ? `$${usd.toFixed(2)}` : `$${usd.toPrecision(1)}`;
}
