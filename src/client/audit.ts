// The client's verbs on the audit log: read, followed, and verified here, without trust in who keeps it.
import { setTimeout as sleep } from 'node:timers/promises';
import { wordsOfDoubt, wordsOfFault } from '../domain/people/audit-anchor.ts';
import { type AuditEntry, auditHashOf, NO_HASH } from '../domain/people/audit.ts';
import { doubtOf, linkOf } from '../wire/people/audit-anchor.ts';
import { audit, type AuditEntryWire, type AuditHeadWire } from '../wire/people/audit.ts';
import type { CallManagement } from './references.ts';
import { isTransient } from './transport/client-error.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

/** A hash that was noted earlier, elsewhere. */
export interface NotedHash {
  readonly id: number;
  readonly hash: string;
}

/** What a verification has found. `broken`: the first entry that is not as it was written, and why; null when there is none. */
export interface AuditVerdict {
  /** Those that were verified. */
  readonly entries: number;
  /** The last of them, and the last entry that was removed by age before; 0 for none. */
  readonly lastId: number;
  readonly removedUntil: number;
  readonly lastHash: string | null;
  readonly broken: { readonly id: number; readonly reason: string } | null;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly pollMs?: number;
  /** Called when the daemon doesn't answer for now. */
  readonly onLost?: () => void;
}

export interface AuditLog {
  readonly list: Verbs<typeof audit>['list'];
  /** Yields the entries after an id, and those that come, until the signal; across restarts of the daemon. */
  follow(query: AuditQuery, afterId: number, options: FollowOptions): AsyncGenerator<AuditEntryWire, void, undefined>;
  /** The whole chain, page by page, up to its end of now. */
  verify(noted?: NotedHash): Promise<AuditVerdict>;
}

const PAGE = 500;
const POLL_MS = 1_000;

/** What to list; times are in ISO 8601. */
export type AuditQuery = NonNullable<Parameters<AuditLog['list']>[0]>;

export function makeAuditLog(call: CallManagement, complete: Complete): AuditLog {
  const { list, head: readHead } = verbsOf(audit, call, complete);

  async function* follow(query: AuditQuery, afterId: number, { signal, pollMs, onLost }: FollowOptions) {
    let after = afterId;
    let isLost = false;
    for (;;) {
      try {
        const { items } = await list({ ...query, limit: PAGE, after_id: after });
        isLost = false;
        yield* items;
        after = items.at(-1)?.id ?? after;
        if (items.length === PAGE) continue;
      } catch (error) {
        if (signal.aborted || !isTransient(error)) throw error;
        if (!isLost) onLost?.();
        isLost = true;
      }
      await sleep(pollMs ?? POLL_MS, undefined, { signal });
    }
  }

  return {
    list,
    follow,
    verify: async (noted) => {
      const head = await readHead();
      const chain = makeChain(head, noted);
      for (;;) {
        const { items } = await list({ after_id: chain.lastId(), limit: PAGE });
        const due = items.filter(({ id }) => id <= head.last_id);
        for (const entry of due) if (chain.broken() === null) chain.take(entry);
        if (chain.broken() !== null || due.length < PAGE) break;
      }
      return chain.end();
    },
  };
}

/** Follows the chain, entry by entry, and remembers the last and the first that is broken. */
function makeChain({ removed_until: start, removed_hash: startHash, ...head }: AuditHeadWire, noted?: NotedHash) {
  const { anchor } = head;
  let [last, lastHash, entries] = [start, startHash ?? NO_HASH, 0];
  let broken: AuditVerdict['broken'] = null;

  function take(entry: AuditEntryWire): void {
    const { id, hash } = entry;
    if (id !== last + 1) broken = { id: last + 1, reason: `Entry ${last + 1} is missing.` };
    else if (hash !== auditHashOf(lastHash, entryOf(entry)))
      broken = { id, reason: `Entry ${id} was changed, or the one before it.` };
    else if (id === anchor.end?.last_id && hash !== anchor.end.last_hash)
      broken = { id, reason: wordsOfFault('entry_changed', linkOf(anchor.end)) };
    else if (id === noted?.id && hash !== noted.hash)
      broken = { id, reason: `Entry ${id} has another hash than the noted one.` };
    if (broken === null) [last, lastHash, entries] = [id, hash, entries + 1];
  }

  /** What the chain itself can't show. */
  function faultAtEnd(): AuditVerdict['broken'] {
    const {
      last_id: lastId,
      last_hash: headHash,
      sealed,
      doubtful_until: doubtful,
      start_sealed: isStartSealed,
    } = head;
    if (!isStartSealed) return { id: start + 1, reason: 'The start of the log is not as the daemon left it.' };
    if (last < lastId) return { id: last + 1, reason: `The entries from ${last + 1} to ${lastId} are missing.` };
    if (anchor.state === 'altered' || anchor.state === 'missing')
      return { id: last, reason: wordsOfFault(`anchor_${anchor.state}`, null) };
    if (anchor.doubt !== null)
      return { id: anchor.doubt.had?.last_id ?? last, reason: wordsOfDoubt(doubtOf(anchor.doubt)) };
    if (anchor.end !== null && anchor.end.last_id > last)
      return { id: last + 1, reason: wordsOfFault('entries_missing', linkOf(anchor.end)) };
    if (noted !== undefined && noted.id < start)
      return { id: noted.id, reason: `Entry ${noted.id} was removed by age: it can't be compared any more.` };
    if (noted?.id === start && noted.hash !== startHash)
      return { id: start, reason: `Entry ${start} has another hash than the noted one.` };
    if (noted !== undefined && noted.id > last) return { id: last + 1, reason: `Entry ${noted.id} is missing.` };
    const isEnd = last === start || headHash === lastHash;
    if (!sealed || !isEnd) return { id: last, reason: 'The end of the log is not as the daemon left it.' };
    if (doubtful === null) return null;
    const when = `When entry ${doubtful + 1} was written, the log was not as the daemon had left it`;
    return { id: doubtful, reason: `${when}: the entries up to ${doubtful} may be forged.` };
  }

  return {
    take,
    lastId: () => last,
    broken: () => broken,
    end: (): AuditVerdict => ({
      entries,
      lastId: last,
      lastHash: entries === 0 ? null : lastHash,
      removedUntil: start,
      broken: broken ?? faultAtEnd(),
    }),
  };
}

function entryOf({ actor, ...entry }: AuditEntryWire): Omit<AuditEntry, 'hash'> {
  return {
    id: entry.id,
    at: Date.parse(entry.at),
    actor: { userId: actor.user_id, username: actor.username, via: actor.via, keyId: actor.key_id },
    action: entry.action,
    targetType: entry.target_type,
    targetId: entry.target_id,
    sessionId: entry.session_id,
    address: entry.address,
    requestId: entry.request_id,
  };
}
