// Settings of what is removed by age.
import { count, type Options } from '../option.ts';

/** A hundred years. */
const days = count(0, 36_500);

export const RETENTION_OPTIONS = {
  'retention.events_days': {
    schema: days,
    fallback: 0,
    about:
      'Days that events are kept after the end of their run. Then streams of the run have its answer in one piece, and no ' +
      'more of what happened on the way.',
  },
  'retention.runs_days': {
    schema: days,
    fallback: 0,
    about:
      'Days that details of runs are kept after their end: events, tool calls and their results. What was said, results and ' +
      'usage stay.',
  },
  'retention.audit_days': {
    schema: days,
    fallback: 0,
    about:
      'Days that entries of the audit log are kept. Then the chain of hashes continues from the last that was removed.',
  },
  'retention.workspaces_idle_days': {
    schema: days,
    fallback: 0,
    about:
      'Days after the last run of a session at which the files of its workspace are removed. Files that runs have made can ' +
      'still be downloaded. The next turn finds an empty workspace, and its agent is told so. Where several daemons are one ' +
      'installation, only directories are removed: the files stay recorded, and the next turn finds them.',
  },
  'retention.exports_days': {
    schema: days,
    fallback: 30,
    about: 'Days that archives of files are kept. One that is asked for later is packed again, which takes a moment.',
  },
  'retention.firings_days': {
    schema: days,
    fallback: 0,
    about:
      'Days that firings of scheduled tasks are listed after their end, except the last of a task, and deleted tasks.',
  },
  'retention.scheduled_sessions_days': {
    schema: days,
    fallback: 0,
    about:
      'Days that sessions of scheduled tasks are kept after their last run. Then they are deleted with their files, except ' +
      'those that a published page is made of.',
  },
  'retention.throw_away_sessions_days': {
    schema: days,
    fallback: 1,
    about:
      'Days that sessions are kept which programs open beside a conversation, such as for its title, where their key is made ' +
      'with --continue-by, and those of responses with "store": false. Nobody comes back to them.',
  },
  'retention.versions_keep': {
    schema: count(0, 100_000),
    fallback: 0,
    about:
      'Newest versions of a published page that are kept. Older ones are withdrawn, except while their share has an end.',
  },
  'retention.upgrade_copies_days': {
    schema: days,
    fallback: 30,
    about:
      'Days that the copies of the database are kept that an upgrade makes before it changes the database. They contain what has ' +
      'been removed or deleted since, and are the way back to the version before.',
  },
} satisfies Options;
