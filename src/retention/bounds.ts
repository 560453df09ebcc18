// What is due by the settings and the clock of now, kind by kind.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';
import type { Amount } from '../store/retention/estimate.ts';
import type { Kind } from './kinds.ts';
import type { Due } from './pass.ts';

/** A kind, and how much of it is due; `keep` and `before` are null where everything is kept. */
export interface KindReport extends Amount {
  readonly name: string;
  readonly unit: Kind['unit'];
  readonly keep: number | null;
  readonly before: number | null;
}

export interface BoundParts {
  readonly clock: Clock;
  settings(): Pick<Settings, 'retention'>;
}

const DAY_MS = 86_400_000;
const NOTHING: Amount = { rows: 0, bytes: 0, isAtLeast: false };

/** Makes what says which kinds have something due, and how much. */
export function makeBounds(kinds: readonly Kind[], { clock, settings }: BoundParts) {
  function boundOf(kind: Kind): { readonly keep: number | null; readonly bound: number | null } {
    const keep = kind.keep(settings().retention);
    if (keep === 0) return { keep: null, bound: null };
    return { keep, bound: kind.unit === 'days' ? clock.now() - keep * DAY_MS : keep };
  }

  async function reportOf(kind: Kind): Promise<KindReport> {
    const { keep, bound } = boundOf(kind);
    const before = kind.unit === 'days' ? bound : null;
    const amount = bound === null ? NOTHING : await kind.count(bound);
    return { name: kind.name, unit: kind.unit, keep, before, ...amount };
  }

  return {
    due: (): Due[] =>
      kinds.flatMap((kind) => {
        const { bound } = boundOf(kind);
        return bound === null ? [] : [{ kind, bound }];
      }),
    report: async (): Promise<KindReport[]> => {
      const reports: KindReport[] = [];
      for (const kind of kinds) {
        reports.push(await reportOf(kind));
        // Counting takes up to ten milliseconds a kind.
        await nextTurn();
      }
      return reports;
    },
  };
}
