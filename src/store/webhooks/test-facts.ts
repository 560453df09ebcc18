// What a test event for a real session can be made of: the newest thing in it that such an event could be about (H10).
import type { InsightPriority } from '../../domain/sessions/insight.ts';
import { FAILED, type RunError, type RunState } from '../../domain/sessions/run.ts';
import { STOPPED_MESSAGE } from '../../domain/sessions/stop.ts';
import type { EventFacts, EventSubject } from '../../domain/webhooks/event-facts.ts';
import type { WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { isIn } from '../runs/run-states.ts';
import { findQuestion, findRun, findSession, summaryOf, toRunFacts } from './event-facts.ts';

/** The real part of a test event. */
export interface TestFacts extends Pick<EventFacts, 'user' | 'session'> {
  /** Undefined when the session has nothing of the kind. */
  readonly subject: EventSubject | undefined;
}

type FindSubject = (tx: Reader, sessionSeq: number) => Step<EventSubject | undefined>;

/** Makes the verbs. */
export function makeTestFacts({ read }: Database) {
  return {
    /** The facts of a session for a test event of a type. */
    findTestFacts: read(function* (tx: Reader, sessionSeq: number, type: WebhookEventType): Step<TestFacts> {
      const { user, session } = yield* findSession(tx, sessionSeq);
      const find = SUBJECTS[type];
      return { user, session, subject: find && (yield* find(tx, sessionSeq)) };
    }),

    /** An existing user, as events name them. */
    getEventUser: read(function* (tx: Reader, userSeq: number): Step<EventFacts['user']> {
      return (yield* tx.get<EventFacts['user']>(
        'SELECT id, username, full_name, department, role FROM users WHERE seq = ?',
        userSeq,
      ))!;
    }),
  };
}

const SUBJECTS: { readonly [T in WebhookEventType]?: FindSubject } = {
  'session.completed': function* (tx, sessionSeq) {
    const run = yield* findEnd(tx, sessionSeq, ['completed']);
    return run && { type: 'session.completed', ...run.facts };
  },
  'session.failed': function* (tx, sessionSeq) {
    const run = yield* findEnd(tx, sessionSeq, FAILED);
    return run && { type: 'session.failed', ...run.facts, message: (JSON.parse(run.error!) as RunError).message };
  },
  'session.stopped': function* (tx, sessionSeq) {
    const run = yield* findEnd(tx, sessionSeq, ['canceled']);
    return run && { type: 'session.stopped', ...run.facts, message: STOPPED_MESSAGE };
  },
  'user_input.requested': function* (tx, sessionSeq) {
    const question = yield* findQuestion(tx, 'session_seq = ?', sessionSeq);
    return question && { type: 'user_input.requested', question: { ...question, answers: null, answeredAt: null } };
  },
  'user_input.answered': function* (tx, sessionSeq) {
    const question = yield* findQuestion(tx, "session_seq = ? AND status = 'answered'", sessionSeq);
    return question && { type: 'user_input.answered', question };
  },
  'workbench.insight_status_changed': function* (tx, sessionSeq) {
    const insight = yield* tx.get<{ id: string; title: string; summary: string; priority: InsightPriority }>(
      'SELECT id, title, summary, priority FROM insights WHERE session_seq = ? ORDER BY seq DESC LIMIT 1',
      sessionSeq,
    );
    const reported = { previous: null, status: 'new', source: 'agent' } as const;
    return insight && { type: 'workbench.insight_status_changed', insight: { ...insight, ...reported } };
  },
  'workspace_export.completed': function* (tx, sessionSeq) {
    const row = yield* tx.get<{ runSeq: number; fileCount: number }>(
      `SELECT run_seq, file_count FROM workspace_exports WHERE session_seq = ? AND status = 'ready'`,
      sessionSeq,
    );
    if (row === undefined) return undefined;
    const run = yield* findRun(tx, 'r.seq = ?', row.runSeq);
    const has = { hasFiles: row.fileCount > 0, hasArchive: true };
    return { type: 'workspace_export.completed', ...has, run: run === undefined ? null : toRunFacts(run) };
  },
};

/** The newest run of a session that ended in one of some states. */
function* findEnd(tx: Reader, sessionSeq: number, states: readonly RunState[]) {
  const found = yield* tx.get<{ seq: number; error: string | null }>(
    `SELECT seq, error FROM runs WHERE session_seq = ? AND ${isIn('status', states)} ORDER BY seq DESC LIMIT 1`,
    sessionSeq,
  );
  const row = found && (yield* findRun(tx, 'r.seq = ?', found.seq));
  if (row === undefined) return undefined;
  return { error: found!.error, facts: { run: toRunFacts(row), summary: yield* summaryOf(tx, sessionSeq, row) } };
}
