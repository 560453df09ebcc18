// Sessions with the names of their owners and keys, found and listed.
import type { Listing, Page } from '../../domain/listing.ts';
import type { Session } from '../../domain/sessions/session.ts';
import type { StopCause } from '../../domain/sessions/stop.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { plain, rowKind } from '../engine/row.ts';
import { SESSION } from '../rows.ts';
import { conditions, fromNearerEnd } from '../engine/lists.ts';

/** A session with the names of its owner and key. */
export interface SessionRecord extends Session {
  readonly userId: string;
  readonly username: string;
  readonly keyId: string | null;
  readonly stop: {
    readonly cause: StopCause;
    readonly requestedAt: number;
    readonly confirmedAt: number | null;
  } | null;
}

/** Null means no filter. A key's sessions are looked for among those of its owner, which an index has in their order. */
export type SessionFilter = Page &
  ({ readonly userSeq: number | null; readonly keySeq: null } | { readonly userSeq: number; readonly keySeq: number });

interface SessionRecordRow extends Session {
  readonly userId: string;
  readonly username: string;
  readonly keyId: string | null;
  readonly stopRequestedAt: number | null;
  readonly stopConfirmedAt: number | null;
  readonly stopCause: StopCause | null;
}

const RECORD = rowKind<SessionRecordRow>({
  ...SESSION.fields,
  userId: plain,
  username: plain,
  keyId: plain,
  stopRequestedAt: plain,
  stopConfirmedAt: plain,
  stopCause: plain,
});

const SESSIONS = `SELECT s.*, u.id AS user_id, u.username, k.id AS key_id FROM sessions s
  JOIN users u ON u.seq = s.user_seq LEFT JOIN api_keys k ON k.seq = s.key_seq`;

/** SQLite counts a whole table by its pages, and deleted sessions have an index. */
const ALL_SESSIONS = `SELECT (SELECT count(*) FROM sessions) AS counted,
  (SELECT count(*) FROM sessions WHERE deleted_at IS NOT NULL) AS hidden`;

/** The look-ups. Deleted sessions are left out. */
export function makeSessionRecords({ read }: Database) {
  return {
    /** A session by its id, or undefined. */
    find: read(function* (tx: Reader, id: string): Step<SessionRecord | undefined> {
      const row = yield* tx.rows(RECORD).get(`${SESSIONS} WHERE s.id = ? AND s.deleted_at IS NULL`, id);
      return row === undefined ? undefined : toSessionRecord(row);
    }),

    /** Sessions, the newest first. */
    list: read(function* (tx: Reader, filter: SessionFilter): Step<Listing<SessionRecord>> {
      const { where, values } = conditions(['deleted_at IS NULL'], {
        'user_seq = ?': filter.userSeq,
        'key_seq = ?': filter.keySeq,
      });
      const count =
        values.length === 0 ? ALL_SESSIONS : `SELECT count(*) AS counted, 0 AS hidden FROM sessions ${where}`;
      const { counted, hidden } = (yield* tx.get<{ counted: number; hidden: number }>(count, ...values))!;
      const total = counted - hidden;
      const { order, limit, offset } = fromNearerEnd(filter, total, hidden);
      const items = yield* tx.rows(RECORD).all(
        `${SESSIONS} WHERE s.seq IN (SELECT seq FROM sessions ${where} ORDER BY seq ${order} LIMIT ? OFFSET ?)
         ORDER BY s.seq DESC`,
        ...values,
        limit,
        offset,
      );
      return { items: items.map(toSessionRecord), total };
    }),
  };
}

function toSessionRecord(row: SessionRecordRow): SessionRecord {
  const { stopRequestedAt: requestedAt, stopConfirmedAt: confirmedAt, stopCause: cause, ...session } = row;
  return { ...session, stop: requestedAt === null ? null : { cause: cause!, requestedAt, confirmedAt } };
}
