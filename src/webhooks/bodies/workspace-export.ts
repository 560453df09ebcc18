// The body of workspace_export.completed. Its keys name things, and are no addresses (H15).
import type { EventSubjectOf, SessionFacts } from '../../domain/webhooks/event-facts.ts';
import { CAPABILITY_PROFILE_VERSION, runFields, sessionFields } from './session-fields.ts';

const NO_RUN = {
  run_id: null,
  turn_id: null,
  status: null,
  schedule_mode: null,
  scheduled_task_id: null,
  started_at: null,
  finished_at: null,
};

export function exportedWorkspace(
  { run, hasFiles, hasArchive }: EventSubjectOf<'workspace_export.completed'>,
  session: SessionFacts,
) {
  const place = `sessions/${session.id}`;
  return {
    workspace_export: {
      status: 'ready' as const,
      files_prefix: hasFiles ? `${place}/workspace/` : null,
      manifest_key: hasFiles ? `${place}/manifest.json` : null,
      archive_key: hasArchive ? `${place}/workspace.zip` : null,
      archive_available: hasArchive,
    },
    session: sessionFields(session),
    run: run === null ? NO_RUN : runFields(run),
    meta: { capability_profile_version: CAPABILITY_PROFILE_VERSION },
  };
}
