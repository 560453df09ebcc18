// Runs, as the management interface returns them.
import {
  PROTOCOLS,
  reportedStatus,
  RUN_STATUSES,
  type RunState,
  SCHEDULE_MODES,
  STOP_REASONS,
} from '../../domain/sessions/run.ts';
import { pageFields } from '../listing.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { runError } from '../run-error.ts';
import { boolean, integer, number, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse, refersTo } from '../shapes/shape.ts';

interface Used {
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}
interface Progressing {
  readonly status: RunState;
}
const count = integer({ from: 0 });

/** A run of anybody. `title`: the beginning of what it was asked. `waiting_for_user`: it is `running`, without a worker, and its user is asked. */
export const run = named(
  'Run',
  record({
    id: called('run_id', uuid),
    sessionId: uuid,
    userId: uuid,
    username: string,
    keyId: nullable(string),
    title: string,
    status: made(oneOf(RUN_STATUSES), ({ status }: Progressing) => reportedStatus(status)),
    waitingForUser: made(boolean, ({ status }: Progressing) => status === 'waiting'),
    protocol: oneOf(PROTOCOLS),
    scheduleMode: oneOf(SCHEDULE_MODES),
    model: nullable(string),
    attempt: count,
    resumes: count,
    inputTokens: made(count, ({ usage }: Used) => usage.inputTokens),
    outputTokens: made(count, ({ usage }: Used) => usage.outputTokens),
    costUsd: number({ from: 0 }),
    stopReason: nullable(oneOf(STOP_REASONS)),
    error: nullable(runError),
    createdAt: time,
    startedAt: nullable(time),
    finishedAt: nullable(time),
  }),
);
export type RunWire = JsonOf<typeof run>;

/** What to list of runs. */
export const runQuery = request({
  sessionId: called('session', orElse(refersTo('sessions', string), null)),
  status: orElse(oneOf(RUN_STATUSES), null),
  ...pageFields,
});
