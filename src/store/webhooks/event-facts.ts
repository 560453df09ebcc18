// What is read for the body of a webhook event, in the commit that plans it.
import type { JournalEvent } from '../../domain/sessions/journal-event.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { RunStatus, ScheduleMode, StopReason } from '../../domain/sessions/run.ts';
import type { Role } from '../../domain/people/user.ts';
import type { Session } from '../../domain/sessions/session.ts';
import { STOPPED_MESSAGE } from '../../domain/sessions/stop.ts';
import type {
  EventFacts,
  EventSubject,
  QuestionFacts,
  RunFacts,
  SessionFacts,
  SummaryFacts,
} from '../../domain/webhooks/event-facts.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { TASK_OF_RUN } from '../firings/task-of-run.ts';
import { toEvent } from '../journal/events.ts';
import type { EventRow } from '../engine/journal/rows.ts';
import { eventIdOf } from './webhook-events.ts';

/** A session and its owner. */
export interface FoundSession {
  readonly userSeq: number;
  readonly isDisabled: boolean;
  readonly user: EventFacts['user'];
  readonly session: SessionFacts;
}

interface SessionRow {
  userSeq: number;
  disabled: number;
  userId: string;
  username: string;
  fullName: string;
  department: string;
  role: Role;
  id: string;
  title: string;
  kind: Session['kind'];
  status: Session['status'];
  projectId: string | null;
  createdAt: number;
  updatedAt: number;
}

/** Reads a session, also a deleted one. */
export function* findSession(tx: Reader, sessionSeq: number): Step<FoundSession> {
  const row = (yield* tx.get<SessionRow>(
    `SELECT s.user_seq, u.disabled, u.id AS user_id, u.username, u.full_name, u.department, u.role, s.id, s.title, s.kind,
       s.status, s.project_id, s.created_at, s.updated_at
     FROM sessions s JOIN users u ON u.seq = s.user_seq WHERE s.seq = ?`,
    sessionSeq,
  ))!;
  const { username, department, role, fullName } = row;
  return {
    userSeq: row.userSeq,
    isDisabled: row.disabled === 1,
    user: { id: row.userId, username, fullName, department, role },
    session: {
      id: row.id,
      title: row.title,
      kind: row.kind,
      status: row.status,
      projectId: row.projectId,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    },
  };
}

/** The facts of an event of a session; undefined when what it is about is gone, or webhooks are to hear nothing of it. */
export function* factsOf(tx: Reader, event: EventRow, found: FoundSession): Step<EventFacts | undefined> {
  const subject = yield* subjectOf(tx, toEvent(event));
  if (subject === undefined) return undefined;
  const { user, session } = found;
  const eventId = eventIdOf(session.id, event);
  return { eventId, occurredAt: event.createdAt, isTest: false, user, session, subject };
}

function* subjectOf(tx: Reader, event: JournalEvent): Step<EventSubject | undefined> {
  switch (event.type) {
    case 'run.done':
      return yield* endOf(tx, event, { type: 'session.completed' });
    case 'run.failed':
      return yield* endOf(tx, event, { type: 'session.failed', message: event.payload.error.message });
    case 'run.stopped':
      if (event.payload.unannounced) return undefined;
      return yield* endOf(tx, event, { type: 'session.stopped', message: STOPPED_MESSAGE });
    case 'user_input.requested':
    case 'user_input.answered':
      return yield* questionOf(tx, event);
    case 'insight.status_changed': {
      const { insightId: id, title, summary, priority, previous, status, source } = event.payload;
      const insight = { id, title, summary, priority, previous, status, source };
      return { type: 'workbench.insight_status_changed', insight };
    }
    case 'workspace_export.completed': {
      const { runId, fileCount, archiveSize } = event.payload;
      const run = (yield* findRun(tx, 'r.id = ?', runId)) ?? null;
      const has = { hasFiles: fileCount > 0, hasArchive: archiveSize !== 0 };
      return { type: 'workspace_export.completed', ...has, run: run && toRunFacts(run) };
    }
    case 'scheduled_task.run_status_changed': {
      const { taskId, name, cron, timezone, runId, status, previous, lastError } = event.payload;
      const run = { id: runId, status, previousStatus: previous, lastError };
      return { type: event.type, task: { id: taskId, name, cron, timezone }, run };
    }
    case 'publish_page.published':
      return { type: event.type, ...event.payload };
    case 'publish_page.failed':
      return { type: event.type, ...event.payload };
    default:
      return undefined;
  }
}

type End =
  | { readonly type: 'session.completed' }
  | { readonly type: 'session.failed' | 'session.stopped'; readonly message: string };

function* endOf(tx: Reader, { runSeq, sessionSeq }: JournalEvent, end: End): Step<EventSubject | undefined> {
  const row = yield* findRun(tx, 'r.seq = ?', runSeq!);
  return row && { ...end, run: toRunFacts(row), summary: yield* summaryOf(tx, sessionSeq, row) };
}

interface RunRow {
  id: string;
  status: RunStatus;
  scheduleMode: ScheduleMode;
  taskId: string | null;
  startedAt: number | null;
  finishedAt: number | null;
  stopReason: StopReason | null;
  turnId: number;
  /** Of its answer; null when it gave none. */
  answerPreview: string | null;
  /** Null until its workspace was examined. */
  fileCount: number | null;
}

/** An ended run, or undefined. */
export function* findRun(
  tx: Reader,
  which: 'r.id = ?' | 'r.seq = ?',
  value: string | number,
): Step<RunRow | undefined> {
  return yield* tx.get<RunRow>(
    `SELECT r.id, r.status, r.schedule_mode, r.started_at, r.finished_at, r.stop_reason, q.id AS turn_id,
       m.text_preview AS answer_preview, a.file_count,
       ${TASK_OF_RUN} AS task_id
     FROM runs r JOIN messages q ON q.run_seq = r.seq AND q.role = 'user'
       LEFT JOIN messages m ON m.run_seq = r.seq AND m.role = 'assistant'
       LEFT JOIN run_artifacts a ON a.run_seq = r.seq
     WHERE ${which}`,
    value,
  );
}

/** How an ended run is reported (I1, H12). */
const STATUS_OF: Readonly<Partial<Record<RunStatus, RunFacts['status']>>> = {
  completed: 'completed',
  canceled: 'stopped',
};

export function toRunFacts(row: RunRow): RunFacts {
  return {
    id: row.id,
    turnId: row.turnId,
    status: STATUS_OF[row.status] ?? 'failed',
    scheduleMode: row.scheduleMode,
    scheduledTaskId: row.taskId,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    stopReason: row.stopReason,
  };
}

type Totals = Omit<SummaryFacts, 'hasArtifacts' | 'hasAssistantResponse'>;

/** Each run has exactly one message of its user. */
const TOTALS = `SELECT message_count, message_count - run_count AS assistantMessageCount,
    tool_count, cost_usd, input_tokens, output_tokens,
    worked_ms
  FROM session_totals WHERE session_seq = ?`;

export function* summaryOf(tx: Reader, sessionSeq: number, run: RunRow): Step<SummaryFacts> {
  const totals = (yield* tx.get<Totals>(TOTALS, sessionSeq))!;
  // Files of a run that failed or was stopped are in the session's export only (E4).
  const isKept = run.status === 'completed' || run.status === 'incomplete';
  return {
    ...totals,
    hasArtifacts: isKept && (run.fileCount ?? 0) > 0,
    hasAssistantResponse: (run.answerPreview ?? '') !== '',
  };
}

type QuestionEvent = Extract<JournalEvent, { type: 'user_input.requested' | 'user_input.answered' }>;

interface QuestionRow {
  id: string;
  toolName: string;
  toolInput: string;
  answers: string | null;
  expiresAt: number;
  answeredAt: number | null;
}

/** The question as it was at the event: it may have been answered since it was asked. */
function* questionOf(tx: Reader, { type, payload }: QuestionEvent): Step<EventSubject | undefined> {
  const question = yield* findQuestion(tx, 'id = ?', payload.requestId);
  if (question === undefined) return undefined;
  const isOpen = type === 'user_input.requested';
  return { type, question: isOpen ? { ...question, answers: null, answeredAt: null } : question };
}

/** The newest question of some, as it is now. */
export function* findQuestion(
  tx: Reader,
  which: 'id = ?' | `session_seq = ?${string}`,
  value: string | number,
): Step<QuestionFacts | undefined> {
  const row = yield* tx.get<QuestionRow>(
    `SELECT id, tool_name, tool_input, answers, expires_at, answered_at FROM user_inputs WHERE ${which}
     ORDER BY seq DESC LIMIT 1`,
    value,
  );
  if (row === undefined) return undefined;
  return {
    id: row.id,
    toolName: row.toolName,
    toolInput: JSON.parse(row.toolInput) as JsonObject,
    answers: row.answers === null ? null : (JSON.parse(row.answers) as JsonValue),
    expiresAt: row.expiresAt,
    answeredAt: row.answeredAt,
  };
}
