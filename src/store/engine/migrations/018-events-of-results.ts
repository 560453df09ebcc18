// Webhooks report runs of scheduled tasks and published pages.

export const eventsOfResults = `
DROP INDEX events_for_webhooks;
CREATE INDEX events_for_webhooks ON events (type) WHERE type IN ('run.done', 'run.failed', 'run.stopped',
  'scheduled_task.run_status_changed', 'user_input.requested', 'user_input.answered', 'insight.status_changed',
  'publish_page.published', 'publish_page.failed', 'workspace_export.completed');
`;
