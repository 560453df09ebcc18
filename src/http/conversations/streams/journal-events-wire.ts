// A run's journal as it is, for administrators.
import { renderJournalEvent } from '../../../wire/journal-event.ts';
import { errorBody } from '../../replies/render-error.ts';
import type { StreamFormat } from './stream-format.ts';

export const JOURNAL_FORMAT: StreamFormat = {
  event: (event, run) => ({
    name: event.type,
    data: renderJournalEvent(event, { sessionId: run.sessionId, runId: run.id }),
  }),
  toolEvents: new Set(),
  ids: 'always',
  ping: 'comment',
  error: (facts) => ({ name: 'error', data: errorBody(facts, 'envelope') }),
  epilogue: () => null,
};
