// The bodies of publish_page.published and publish_page.failed. They carry identifiers, never content (§6.5).
import type { EventSubjectOf, PageFacts, SessionFacts } from '../../domain/webhooks/event-facts.ts';

export function publishedPage({ page, version }: EventSubjectOf<'publish_page.published'>, session: SessionFacts) {
  return {
    publish_page: {
      ...pageFields(page),
      source_type: page.origin,
      category: page.category,
      public_to_board_enabled: page.isOnBoard,
    },
    version: {
      version_no: version.no,
      session_id: session.id,
      entry_path: version.entryPath,
      share_code: version.shareCode,
      published_url: `/share/p/${page.key}`,
      trigger_type: version.trigger,
      reason: version.reason,
    },
    session: sessionOfPage(session),
  };
}

export function failedPage({ page, job }: EventSubjectOf<'publish_page.failed'>, session: SessionFacts) {
  return {
    publish_page: pageFields(page),
    job: {
      job_id: job.id,
      run_id: job.runId,
      scheduled_task_id: job.scheduledTaskId,
      status: 'failed' as const,
      attempt_count: job.attemptCount,
      max_attempts: job.maxAttempts,
      last_error: job.message,
    },
    error: { message: job.message },
    session: sessionOfPage(session),
  };
}

function pageFields({ id, name, key }: PageFacts) {
  return { publish_center_id: id, name, publish_key: key };
}

function sessionOfPage({ id, title, kind, projectId }: SessionFacts) {
  return { session_id: id, title, kind, project_id: projectId };
}
