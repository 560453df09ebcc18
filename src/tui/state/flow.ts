// How much flowed in the last hour: a ring of sixty minutes, fed by successive totals of today.

/** `minutes` are the last sixty, the newest last, which is that of `minute` (epoch minutes); null: nobody looked on. */
export interface Flow {
  readonly total: number;
  readonly minute: number;
  readonly minutes: readonly (number | null)[];
}

const MINUTES = 60;

/** What has come since the last total counts for this minute. The first total only begins. */
export function flowAfter(flow: Flow | undefined, total: number, at: number): Flow {
  const minute = Math.floor(at / 60_000);
  if (flow === undefined) return { total, minute, minutes: [...filled(MINUTES - 1, null), 0] };
  // A total that falls has begun anew, with the day.
  const came = total >= flow.total ? total - flow.total : total;
  const passed = Math.min(MINUTES, Math.max(0, minute - flow.minute));
  const minutes = [...flow.minutes.slice(passed), ...filled(passed, 0)];
  minutes[MINUTES - 1] = (minutes[MINUTES - 1] ?? 0) + came;
  return { total, minute: Math.max(minute, flow.minute), minutes };
}

const filled = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);
