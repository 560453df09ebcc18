// Firings of a task, read.
import type { Listing, Page } from '../../domain/listing.ts';
import type { Firing } from '../../domain/schedules/task.ts';
import type { Database } from '../engine/database.ts';
import type { Reader } from '../engine/statement.ts';

/** The verb. */
export function makeFirings({ read }: Database) {
  return {
    /** A task's firings, the newest first. */
    listFirings: read(function* (tx: Reader, taskSeq: number, { limit, offset }: Page) {
      const { total } = (yield* tx.get<{ total: number }>(
        'SELECT count(*) AS total FROM firings WHERE task_seq = ?',
        taskSeq,
      ))!;
      const items = yield* tx.all<Firing>(
        `SELECT f.id, t.id AS taskId, f.due_at, f.trigger, s.id AS sessionId, f.status, f.step_no,
           f.step_count, f.created_at, f.ended_at
         FROM (SELECT id FROM firings WHERE task_seq = ? ORDER BY id DESC LIMIT ? OFFSET ?) AS page
           CROSS JOIN firings f ON f.id = page.id JOIN scheduled_tasks t ON t.seq = f.task_seq
           JOIN sessions s ON s.seq = f.session_seq
         ORDER BY f.id DESC`,
        taskSeq,
        limit,
        offset,
      );
      return { items, total } satisfies Listing<Firing>;
    }),
  };
}
