// Live runs by pages, where there are more of them than a snapshot has room for.
import type { Listing, Page } from '../../domain/listing.ts';
import type { OfficeRun } from '../../domain/sessions/office-run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { readRuns } from './snapshot.ts';

/** The verb. */
export function makeLiveRuns({ read }: Database) {
  return {
    /** In the order of a snapshot: those that wait for a worker last, the newest first in each. */
    listLiveRuns: read(function* (tx: Reader, { limit, offset }: Page): Step<Listing<OfficeRun>> {
      const total = (yield* tx.get<{ total: number }>('SELECT count(*) AS total FROM runs WHERE finished_at IS NULL'))!;
      const rows = yield* tx.all<{ seq: number }>(
        `SELECT seq FROM runs WHERE finished_at IS NULL ORDER BY status = 'queued', seq DESC LIMIT ? OFFSET ?`,
        limit,
        offset,
      );
      const seqs = rows.map(({ seq }) => seq);
      return { items: yield* readRuns(tx, seqs), ...total };
    }),
  };
}
