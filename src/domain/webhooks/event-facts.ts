// What a webhook event is about: the facts that its body is made of (§6.5).
import type { InsightPriority, InsightSource, InsightStatus } from '../sessions/insight.ts';
import type { FailedPublishing, PublishedPage, PublishedVersion } from '../sessions/journal-event.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { TaskRunStatus } from '../schedules/run-status.ts';
import type { ScheduleMode, StopReason } from '../sessions/run.ts';
import type { SessionKind, SessionStatus } from '../sessions/session.ts';
import type { User } from '../people/user.ts';
import type { OwnerScope, WebhookEventType } from './webhook.ts';

/** An event of a session. Times are epoch ms. */
export interface EventFacts {
  readonly eventId: string;
  readonly occurredAt: number;
  readonly isTest: boolean;
  /** The owner of the session. */
  readonly user: Pick<User, 'id' | 'username' | 'fullName' | 'department' | 'role'>;
  readonly session: SessionFacts;
  readonly subject: EventSubject;
}

/** The webhook that a body is for. */
export interface BodyTarget {
  readonly id: number;
  readonly ownerScope: OwnerScope;
}

/** Makes the JSON text of a body. */
export type RenderBody = (facts: EventFacts, target: BodyTarget) => string;

export interface SessionFacts {
  readonly id: string;
  readonly title: string;
  readonly kind: SessionKind;
  readonly status: SessionStatus;
  readonly projectId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What is particular to each event type. */
interface EventSubjects {
  'session.completed': EndFacts;
  'session.failed': EndFacts & { readonly message: string };
  'session.stopped': EndFacts & { readonly message: string };
  'scheduled_task.run_status_changed': { readonly task: TaskFacts; readonly run: TaskRunFacts };
  'user_input.requested': { readonly question: QuestionFacts };
  'user_input.answered': { readonly question: QuestionFacts };
  'workbench.insight_status_changed': { readonly insight: InsightFacts };
  'publish_page.published': { readonly page: PublishedPage; readonly version: PublishedVersion };
  'publish_page.failed': { readonly page: PageFacts; readonly job: FailedPublishing };
  'workspace_export.completed': ExportFacts;
}

/** The subject of an event of a type. */
export type EventSubjectOf<T extends WebhookEventType> = { readonly type: T } & EventSubjects[T];
export type EventSubject = { [T in WebhookEventType]: EventSubjectOf<T> }[WebhookEventType];

interface EndFacts {
  readonly run: RunFacts;
  readonly summary: SummaryFacts;
}

interface ExportFacts {
  readonly hasFiles: boolean;
  readonly hasArchive: boolean;
  /** The run after which it was made; null when it is not known. */
  readonly run: RunFacts | null;
}

/** A run that has ended. */
export interface RunFacts {
  readonly id: string;
  /** The id of its user message. */
  readonly turnId: number;
  readonly status: 'completed' | 'failed' | 'stopped';
  readonly scheduleMode: ScheduleMode;
  readonly scheduledTaskId: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Null unless it completed. */
  readonly stopReason: StopReason | null;
}

/** Totals of the session up to now; the two flags are of the run itself. */
export interface SummaryFacts {
  /** False: the run surely left no files. True also while they are being collected. */
  readonly hasArtifacts: boolean;
  readonly hasAssistantResponse: boolean;
  readonly messageCount: number;
  readonly assistantMessageCount: number;
  /** Finished tool calls. */
  readonly toolCount: number;
  readonly costUsd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Milliseconds that workers were at its runs. */
  readonly workedMs: number;
}

export interface QuestionFacts {
  readonly id: string;
  readonly toolName: string;
  readonly toolInput: JsonObject;
  /** Null unless the event is the answer. */
  readonly answers: JsonValue | null;
  readonly expiresAt: number;
  readonly answeredAt: number | null;
}

export interface InsightFacts {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly priority: InsightPriority;
  /** Null when it is reported. */
  readonly previous: InsightStatus | null;
  readonly status: InsightStatus;
  readonly source: InsightSource;
}

export interface TaskFacts {
  readonly id: string;
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
}

export interface TaskRunFacts {
  readonly id: string;
  readonly status: TaskRunStatus;
  readonly previousStatus: TaskRunStatus | null;
  readonly lastError: string | null;
}

export type PageFacts = Pick<PublishedPage, 'id' | 'name' | 'key'>;
