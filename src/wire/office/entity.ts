// The rows of Office Mode: runs as people look at them (§2.14, G1, G13-G15).
import {
  elapsedSeconds,
  OFFICE_STATUS,
  progressOf,
  RUN_SOURCES,
  SESSION_OFFICE_STATUS,
} from '../../domain/sessions/office.ts';
import {
  detailOf,
  figuresOf,
  type OfficeRun,
  shownTeamId,
  shownTeamName,
  subtitleOf,
} from '../../domain/sessions/office-run.ts';
import type { RunError, RunState } from '../../domain/sessions/run.ts';
import type { SessionStatus } from '../../domain/sessions/session.ts';
import { called, made, record } from '../shapes/record.ts';
import { boolean, integer, number, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable } from '../shapes/shape.ts';

const count = integer({ from: 0 });
/** US dollars. */
const cost = number({ from: 0 });

/** What a run's status is for people: `running` includes finalizing, `idle` is a stopped run (G1). */
export const ENTITY_STATUSES = ['running', 'pending', 'failed', 'completed', 'idle'] as const;
const entityStatus = oneOf(ENTITY_STATUSES);

const PERSON = { userId: uuid, username: string, fullName: string };

/** `__unassigned__` where there is none (G19). */
export const TEAM = { teamId: made(string, shownTeamId), teamName: made(string, shownTeamName) };

/** How far a run is. */
export const PROGRESS = {
  status: made(entityStatus, ({ status }: { readonly status: RunState }) => OFFICE_STATUS[status]),
  progress: made(integer({ from: 0, to: 100 }), ({ status, steps }: Pick<OfficeRun, 'status' | 'steps'>) =>
    progressOf(status, steps),
  ),
};

/** Until now while it lasts: `at` is when it was read. */
export const ELAPSED = made(
  count,
  ({ startedAt, finishedAt, at }: Pick<OfficeRun, 'startedAt' | 'finishedAt'> & { readonly at: number }) =>
    elapsedSeconds(startedAt, finishedAt ?? at),
);

/** The words of the last error. */
export const LAST_ERROR = made(
  nullable(string),
  ({ lastError }: { readonly lastError: RunError | null }) => lastError?.message ?? null,
);

/** `owner` for the administrator's own sessions. */
const accessMode = called('conversation_access_mode', oneOf(['owner', 'admin_readonly']));

const modelWait = record({
  model: string,
  agent: nullable(string),
  since: time,
  waitedSeconds: count,
  message: string,
});

/** A run that was read at `at`. */
type SeenRun = OfficeRun & { readonly at: number };

const ENTITY = {
  id: string,
  kind: made(oneOf(['session-run']), () => 'session-run' as const),
  /** What this run was asked, in its first words; `session_title` is the same for all runs of the session. */
  title: string,
  /** Who and which team. */
  subtitle: made(string, subtitleOf),
  status: PROGRESS.status,
  /** Tokens, cost and tools in one line. */
  meta: made(string, figuresOf),
  progress: PROGRESS.progress,
  /** What the agent does now, in one line; null when the run is over. */
  detail: made(nullable(string), detailOf),
  /** It repeats a call, its own or a sub-agent's, while the server of the model is down; null otherwise. */
  modelWait: made(
    nullable(modelWait),
    ({ modelWait: wait, at }: SeenRun) => wait && { ...wait, waitedSeconds: elapsedSeconds(wait.since, at) },
  ),
  ...TEAM,
  /** Where it executes, or has executed. */
  node: made(nullable(string), ({ nodeName }: OfficeRun) => nodeName),
  runId: made(uuid, ({ id }: OfficeRun) => id),
  sessionId: uuid,
  sessionTitle: string,
  ...PERSON,
  startedAt: nullable(time),
  finishedAt: nullable(time),
  updatedAt: time,
  elapsedSeconds: ELAPSED,
  lastError: made(nullable(string), ({ error }: OfficeRun) => error?.message ?? null),
  costUsd: called('total_cost_usd', cost),
  totalTokens: count,
  messageCount: count,
  artifactCount: count,
  canViewConversation: made(boolean, () => true),
  access: accessMode,
};

/** A run, as a row. */
export const entity = named('OfficeEntity', record(ENTITY));
export type EntityWire = JsonOf<typeof entity>;

/** A row of today's runs of a team; its `id` is `<session_id>:<run_id>`, and its cost and tokens are the session's of today. */
export const todayItem = named(
  'OfficeTodayItem',
  record({
    ...ENTITY,
    id: made(string, ({ sessionId, id }: OfficeRun) => `${sessionId}:${id}`),
    /** A deleted session has no conversation to look at (§4.8 rule 7). */
    canViewConversation: made(boolean, ({ isDeleted }: { readonly isDeleted: boolean }) => !isDeleted),
    isDeleted: boolean,
    source: called('source_type', oneOf(RUN_SOURCES)),
    taskId: called('scheduled_task_id', nullable(uuid)),
    stepId: called('scheduled_task_step_id', nullable(uuid)),
  }),
);
export type TodayItemWire = JsonOf<typeof todayItem>;

/** One of the sessions that changed last. */
export const recentSession = named(
  'OfficeRecentSession',
  record({
    id: made(string, ({ sessionId }: { readonly sessionId: string }) => sessionId),
    sessionId: uuid,
    runId: nullable(uuid),
    ...PERSON,
    ...TEAM,
    title: string,
    sessionTitle: made(string, ({ title }: { readonly title: string }) => title),
    status: made(entityStatus, ({ status }: { readonly status: SessionStatus }) => SESSION_OFFICE_STATUS[status]),
    updatedAt: time,
    canViewConversation: made(boolean, () => true),
    access: accessMode,
  }),
);
