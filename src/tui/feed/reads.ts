// What the view reads of the daemon. The client has all of it; a browser makes its own.
import type { Budgets } from '../../client/budgets.ts';
import type { Office } from '../../client/office.ts';
import type { QueueWire } from '../../wire/sessions/queue.ts';

type OfficeReads = Pick<
  Office,
  | 'snapshot'
  | 'liveRuns'
  | 'lastHour'
  | 'follow'
  | 'followSession'
  | 'events'
  | 'rounds'
  | 'messages'
  | 'files'
  | 'contextUsage'
  | 'summary'
  | 'runs'
>;

/** The verbs, which throw ClientError. */
export interface Reads {
  readonly office: OfficeReads;
  readonly queue: (limit?: number) => Promise<QueueWire>;
  readonly budgets: Pick<Budgets, 'list'>;
}
