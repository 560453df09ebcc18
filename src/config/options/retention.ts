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
} satisfies Options;
