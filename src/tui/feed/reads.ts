// What the view reads of the daemon. The client has all of it; a browser makes its own.
import type { Client } from '../../client/client.ts';

type OfficeReads = Pick<
  Client['office'],
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
>;

/** The verbs, which throw ClientError. */
export interface Reads {
  readonly office: OfficeReads;
  readonly queue: Client['queue'];
  readonly budgets: Pick<Client['budgets'], 'list'>;
}
