// The content of one session, page by page, as Office Mode shows it (§4.8: messages with files, runs, rounds).
import { MB } from '../../domain/byte-units.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import { PORTION_BYTES, type Portions } from '../../domain/portions.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { RunRound } from '../../store/office/run-rounds.ts';
import type { MessageSize } from '../../store/sessions/history.ts';
import type { AuditedAccess } from '../audited-access.ts';
import { type HistoryMessage, messagesIn } from '../sessions/history.ts';
import { seen, type SeenRun } from './conversation-access.ts';

/** A page of messages, ascending. `nextBeforeId` leads to the page before; null at the beginning of the session. */
export interface OfficeMessages {
  readonly sessionId: string;
  readonly messages: Portions<HistoryMessage>;
  readonly nextBeforeId: number | null;
}

export interface OfficeRuns extends Listing<SeenRun>, Page {
  readonly sessionId: string;
}

export interface RunRounds {
  readonly sessionId: string;
  readonly rounds: Portions<RunRound>;
  readonly total: number;
}

export interface SessionPageParts {
  readonly store: Pick<Store, 'office' | 'history'>;
  readonly auditedAccess: Pick<AuditedAccess, 'session'>;
  readonly clock: Clock;
}

/** Bytes of a page of messages. A longer page ends earlier, but has at least one message. */
const PAGE_BYTES = 8 * MB;
/** Rounds of one read. */
const SLICE = 5;

/** The verbs. They throw as `AuditedAccess.session` does. */
export function makeSessionPages({ store, auditedAccess, clock }: SessionPageParts) {
  const { history } = store;

  /** The newest messages before an id, newest first, and whether there are older ones. */
  async function measure(sessionSeq: number, beforeId: number, limit: number) {
    const sizes: MessageSize[] = [];
    let bytes = 0;
    for (let before = beforeId; ; before = sizes.at(-1)!.id) {
      const next = await history.listSizesBefore(sessionSeq, before);
      if (next.length === 0) return { sizes, hasMore: false };
      for (const size of next) {
        if (sizes.length === limit || bytes > PAGE_BYTES) return { sizes, hasMore: true };
        sizes.push(size);
        bytes += size.bytes;
      }
    }
  }

  async function* portionsIn(sessionSeq: number, sizes: readonly MessageSize[]): Portions<HistoryMessage> {
    yield* messagesIn(history, sessionSeq, sizes);
  }

  async function* roundsOf(sessionSeq: number, afterSeq: number, limit: number): Portions<RunRound> {
    let [last, left] = [afterSeq, limit];
    while (left > 0) {
      const wanted = Math.min(SLICE, left);
      const read = async () => {
        const slice = await store.office.listRounds(sessionSeq, last, wanted);
        left = slice.length < wanted ? 0 : left - wanted;
        last = slice.at(-1)?.seq ?? last;
        return slice;
      };
      yield { bytes: PORTION_BYTES, read };
    }
  }

  return {
    /** The newest messages before an id (null: of all). */
    listOfficeMessages: async (
      caller: Administrator,
      id: string,
      { beforeId, limit }: { readonly beforeId: number | null; readonly limit: number },
    ): Promise<OfficeMessages> => {
      const session = await auditedAccess.session(caller, id);
      const { sizes, hasMore } = await measure(session.seq, beforeId ?? Number.MAX_SAFE_INTEGER, limit);
      const messages = portionsIn(session.seq, sizes.toReversed());
      return { sessionId: session.id, messages, nextBeforeId: hasMore ? sizes.at(-1)!.id : null };
    },

    /** The session's runs, the newest first. */
    listOfficeRuns: async (caller: Administrator, id: string, page: Page): Promise<OfficeRuns> => {
      const session = await auditedAccess.session(caller, id);
      const { items, total } = await store.office.listRuns(session.seq, page);
      const at = clock.now();
      return { sessionId: session.id, items: items.map((run) => seen(run, caller, at)), total, ...page };
    },

    /** The session's rounds, the oldest first. */
    listRunRounds: async (caller: Administrator, id: string, { limit, offset }: Page): Promise<RunRounds> => {
      const session = await auditedAccess.session(caller, id);
      const { total, afterSeq } = await store.office.findRounds(session.seq, offset);
      return { sessionId: session.id, rounds: roundsOf(session.seq, afterSeq, limit), total };
    },
  };
}
