// Made-up facts: for a test without a session, and for what a real session has nothing of (H10).
import { newId } from '../../domain/ids.ts';
import type {
  EventFacts,
  EventSubject,
  EventSubjectOf,
  RunFacts,
  SessionFacts,
  SummaryFacts,
} from '../../domain/webhooks/event-facts.ts';
import type { WebhookEventType } from '../../domain/webhooks/webhook.ts';

/** What is real of a test. */
export interface RealFacts {
  readonly user: EventFacts['user'];
  readonly session?: SessionFacts | undefined;
  readonly subject?: EventSubject | undefined;
}

const MINUTE = 60_000;

/** The facts of a test event that happens now; all that is not given is made up, with ids that are valid in form. */
export function sampleFacts(type: WebhookEventType, { user, session, subject }: RealFacts, now: number): EventFacts {
  const facts = { eventId: newId(now), occurredAt: now, isTest: true, user };
  return { ...facts, session: session ?? sampleSession(now), subject: subject ?? SUBJECTS[type](now) };
}

/** Without a session the context is a chat without a project (§6.6). */
function sampleSession(now: number): SessionFacts {
  return {
    id: newId(now),
    title: 'A test of this webhook',
    kind: 'chat',
    status: 'completed',
    projectId: null,
    createdAt: now - MINUTE,
    updatedAt: now,
  };
}

const SUBJECTS: { readonly [T in WebhookEventType]: (now: number) => EventSubjectOf<T> } = {
  'session.completed': (now) => ({ type: 'session.completed', run: sampleRun(now, 'completed'), summary: SUMMARY }),
  'session.failed': (now) => ({
    type: 'session.failed',
    run: sampleRun(now, 'failed'),
    summary: SUMMARY,
    message: 'The model server did not answer.',
  }),
  'session.stopped': (now) => ({
    type: 'session.stopped',
    run: sampleRun(now, 'stopped'),
    summary: SUMMARY,
    message: 'Stopped by the user.',
  }),
  'scheduled_task.run_status_changed': (now) => ({
    type: 'scheduled_task.run_status_changed',
    task: { id: newId(now), name: 'Morning report', cron: '0 7 * * 1-5', timezone: 'Europe/Zurich' },
    run: { id: newId(now), status: 'completed', previousStatus: 'running', lastError: null },
  }),
  'user_input.requested': (now) => ({ type: 'user_input.requested', question: sampleQuestion(now) }),
  'user_input.answered': (now) => ({
    type: 'user_input.answered',
    question: { ...sampleQuestion(now), answers: 'Yes', answeredAt: now },
  }),
  'workbench.insight_status_changed': (now) => ({
    type: 'workbench.insight_status_changed',
    insight: {
      id: newId(now),
      title: 'A test of this webhook',
      summary: 'Nothing has happened.',
      priority: 'normal',
      previous: null,
      status: 'new',
      source: 'agent',
    },
  }),
  'publish_page.published': () => ({
    type: 'publish_page.published',
    page: SAMPLE_PAGE,
    version: { no: 1, entryPath: '/index.html', shareCode: 'test-share', trigger: 'auto', reason: null },
  }),
  'publish_page.failed': (now) => ({
    type: 'publish_page.failed',
    page: SAMPLE_PAGE,
    job: {
      id: newId(now),
      runId: newId(now),
      scheduledTaskId: null,
      attemptCount: 3,
      maxAttempts: 3,
      message: 'The run left no page.',
    },
  }),
  'workspace_export.completed': (now) => ({
    type: 'workspace_export.completed',
    hasFiles: true,
    hasArchive: true,
    run: sampleRun(now, 'completed'),
  }),
};

function sampleRun(now: number, status: RunFacts['status']): RunFacts {
  return {
    id: newId(now),
    turnId: 1,
    status,
    scheduleMode: 'immediate',
    scheduledTaskId: null,
    startedAt: now - MINUTE,
    finishedAt: now,
    stopReason: status === 'completed' ? 'end_turn' : null,
  };
}

const SUMMARY: SummaryFacts = {
  hasArtifacts: false,
  hasAssistantResponse: true,
  messageCount: 2,
  assistantMessageCount: 1,
  toolCount: 0,
  costUsd: 0,
  inputTokens: 0,
  outputTokens: 0,
  workedMs: MINUTE,
};

const sampleQuestion = (now: number) => ({
  id: newId(now),
  toolName: 'ask_user',
  toolInput: { question: 'Does this webhook work?' },
  answers: null,
  expiresAt: now + MINUTE,
  answeredAt: null,
});

const SAMPLE_PAGE = {
  id: 1,
  name: 'A test of this webhook',
  key: 'test-page',
  origin: 'existing_session',
  category: null,
  isOnBoard: false,
} as const;
