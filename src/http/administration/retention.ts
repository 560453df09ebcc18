// The handlers of what is removed by age.
import { isoTime } from '../../domain/clock.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { orphanPath } from '../../files/orphans.ts';
import type { KindReport } from '../../retention/bounds.ts';
import type { RetentionProgress, RetentionReport } from '../../retention/retention.ts';
import type {
  collectionWish,
  OrphansWire,
  RetentionKindWire,
  RetentionProgressWire,
  RetentionWire,
} from '../../wire/retention.ts';
import type { Static } from '../../wire/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeRetentionHandlers(operations: Operations) {
  return {
    get: async (_exchange: Exchange, caller: Administrator) => ok(renderReport(await operations.getRetention(caller))),
    orphans: async (_exchange: Exchange, caller: Administrator) => {
      const { isAtLeast, examples, ...counts } = await operations.getOrphans(caller);
      return ok({ ...counts, examples: examples.map(orphanPath), at_least: isAtLeast } satisfies OrphansWire);
    },
    progress: async (_exchange: Exchange, caller: Administrator) =>
      ok(renderProgress(await operations.getRetentionProgress(caller))),
    collect: async ({ body }: Exchange<unknown, Static<typeof collectionWish>>, caller: Administrator) => {
      const begun = await operations.collectNow(caller, { trustClock: body.trust_clock ?? false });
      return ok({ ...renderReport(begun), pass_no: begun.passNo });
    },
  };
}

const timeOrNull = (at: number | null) => (at === null ? null : isoTime(at));

function renderReport({ kinds, database, ...progress }: RetentionReport): RetentionWire {
  return {
    ...renderProgress(progress),
    kinds: kinds.map(renderKind),
    database: { bytes: database.bytes, free_bytes: database.freeBytes, shrinks: database.shrinks },
  };
}

function renderProgress({ heldUntil, pass }: RetentionProgress): RetentionProgressWire {
  return {
    held_until: timeOrNull(heldUntil),
    pass: pass && {
      no: pass.no,
      started_at: isoTime(pass.startedAt),
      ended_at: timeOrNull(pass.endedAt),
      removed: Object.entries(pass.removed).map(([kind, rows]) => ({ kind, rows })),
    },
  };
}

function renderKind({ name, unit, keep, before, rows, bytes, isAtLeast }: KindReport): RetentionKindWire {
  return { kind: name, unit, keep, before: timeOrNull(before), rows, bytes, at_least: isAtLeast };
}
