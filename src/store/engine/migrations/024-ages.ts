// Ages of archives, firings, sessions of scheduled tasks, and workspaces.
export const ages = `
-- When the archive was packed; it can be removed and packed again.
ALTER TABLE run_artifacts ADD COLUMN archived_at INTEGER;
ALTER TABLE workspace_exports ADD COLUMN archived_at INTEGER;
UPDATE run_artifacts SET archived_at = created_at WHERE archive_key IS NOT NULL;
UPDATE workspace_exports SET archived_at = updated_at WHERE archive_key IS NOT NULL;
CREATE INDEX run_artifacts_by_age ON run_artifacts (archived_at) WHERE archive_key IS NOT NULL;
CREATE INDEX workspace_exports_by_age ON workspace_exports (archived_at) WHERE archive_key IS NOT NULL;

CREATE INDEX firings_ended ON firings (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX scheduled_runs_by_firing ON scheduled_runs (firing_id);
CREATE INDEX scheduled_tasks_deleted ON scheduled_tasks (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX sessions_scheduled ON sessions (updated_at) WHERE kind = 'scheduled' AND deleted_at IS NULL;
CREATE INDEX publish_pages_by_session ON publish_pages (session_seq) WHERE deleted_at IS NULL;
CREATE INDEX publish_pages_by_versions ON publish_pages (open_versions) WHERE deleted_at IS NULL;

-- When the files of the session's workspace were removed; NULL while they were not.
ALTER TABLE sessions ADD COLUMN workspace_removed_at INTEGER;
-- When it was last looked at for that: only what has changed since is looked at again.
ALTER TABLE sessions ADD COLUMN workspace_checked_at INTEGER;
CREATE INDEX sessions_idle ON sessions (updated_at)
  WHERE deleted_at IS NULL AND (workspace_checked_at IS NULL OR workspace_checked_at < updated_at);
`;
