// The content of one session, page by page, as Office Mode shows it (§4.8: messages with files, runs, rounds).
import type { Clock } from '../../domain/clock.ts';
import type { Message } from '../../domain/sessions/content.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import { makePause } from '../../domain/pauses.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { OfficeRun } from '../../store/office/office-runs.ts';
import type { RunRound } from '../../store/office/run-rounds.ts';
import type { MessageOfRun } from '../../store/office/session-pages.ts';
import type { Looking } from '../looking.ts';
import { type ConversationAccess, conversationAccess } from './conversation-access.ts';

/** A page of messages, ascending. `nextBeforeId` leads to the page before; null at the beginning of the session. */
export interface OfficeMessages {
  readonly sessionId: string;
  readonly messages: readonly MessageOfRun[];
  readonly nextBeforeId: number | null;
}

export interface OfficeRuns extends Listing<OfficeRun> {
  readonly sessionId: string;
  readonly access: ConversationAccess;
  /** The time of the read. */
  readonly at: number;
}

export interface RunRounds extends Listing<RunRound> {
  readonly sessionId: string;
}

export interface SessionPageParts {
  readonly store: Pick<Store, 'office'>;
  readonly looking: Pick<Looking, 'session'>;
  readonly clock: Clock;
}

/** Characters of a page of messages. A longer page ends earlier, but has at least one message. */
const PAGE_CHARACTERS = 8 * 1_024 * 1_024;
/** Rounds of one read. */
const SLICE = 5;

/** The verbs. They throw as `Looking.session` does. */
export function makeSessionPages({ store, looking, clock }: SessionPageParts) {
  return {
    /** The newest messages before an id (null: of all). */
    listOfficeMessages: async (
      caller: Administrator,
      id: string,
      { beforeId, limit }: { readonly beforeId: number | null; readonly limit: number },
    ): Promise<OfficeMessages> => {
      const session = await looking.session(caller, id);
      const pause = makePause(clock);
      const ids = await store.office.listMessageIds(session.seq, beforeId ?? Number.MAX_SAFE_INTEGER, limit + 1);
      const messages: MessageOfRun[] = [];
      let left = PAGE_CHARACTERS;
      for (const messageId of ids.slice(0, limit)) {
        if (left <= 0) break;
        const message = await store.office.getMessage(messageId);
        left -= sizeOf(message);
        messages.unshift(message);
        await pause();
      }
      const hasMore = messages.length < ids.length;
      return { sessionId: session.id, messages, nextBeforeId: hasMore ? messages[0]!.id : null };
    },

    /** The session's runs, the newest first. */
    listOfficeRuns: async (caller: Administrator, id: string, page: Page): Promise<OfficeRuns> => {
      const session = await looking.session(caller, id);
      return {
        sessionId: session.id,
        ...(await store.office.listRuns(session.seq, page)),
        access: conversationAccess(caller, session.userId),
        at: clock.now(),
      };
    },

    /** The session's rounds, the oldest first. */
    listRunRounds: async (caller: Administrator, id: string, { limit, offset }: Page): Promise<RunRounds> => {
      const session = await looking.session(caller, id);
      const pause = makePause(clock);
      const { total, afterSeq } = await store.office.findRounds(session.seq, offset);
      const items: RunRound[] = [];
      let last = afterSeq;
      while (items.length < limit) {
        const wanted = Math.min(SLICE, limit - items.length);
        const slice = await store.office.listRounds(session.seq, last, wanted);
        items.push(...slice);
        if (slice.length < wanted) break;
        last = slice.at(-1)!.seq;
        await pause();
      }
      return { sessionId: session.id, items, total };
    },
  };
}

/** The approximate number of characters of a message. */
function sizeOf({ content }: Message): number {
  let size = 0;
  for (const block of content) {
    if (block.type === 'text') size += block.text.length;
    else if (block.type === 'tool_result') size += block.output.length;
    else if (block.type === 'tool_use') size += JSON.stringify(block.input).length;
  }
  return size;
}
