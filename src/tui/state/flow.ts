// What a team used in the last hour: a ring of sixty minutes, fed by successive totals of today, and by steps for what they miss.

/** `minutes` are the last sixty, the newest last, which is that of `minute` (epoch minutes); null: unknown. */
export interface Flow {
  readonly total: number;
  readonly minute: number;
  readonly minutes: readonly (number | null)[];
}

/** What was used in a span of minutes: the first of them (epoch minutes), and how many. */
export interface FlowStep {
  readonly minute: number;
  readonly length: number;
  readonly total: number;
}

const MINUTES = 60;
/** After more minutes than this without a total, what came meanwhile is not known by minutes. */
const GAP_MINUTES = 3;

/** What has come since the last total counts for this minute. The first total only begins, as does the first after a gap. */
export function flowAfter(flow: Flow | undefined, total: number, at: number): Flow {
  const minute = Math.floor(at / 60_000);
  if (flow === undefined) return { total, minute, minutes: [...filled(MINUTES - 1, null), 0] };
  const passed = Math.min(MINUTES, Math.max(0, minute - flow.minute));
  const isGap = passed > GAP_MINUTES;
  const minutes = [...flow.minutes.slice(passed), ...filled(passed, isGap ? null : 0)];
  // A total that falls has begun anew, with the day.
  const came = isGap ? 0 : total >= flow.total ? total - flow.total : total;
  minutes[MINUTES - 1] = (minutes[MINUTES - 1] ?? 0) + came;
  return { total, minute: Math.max(minute, flow.minute), minutes };
}

/** Whether some of its minutes are unknown. */
export function hasGaps({ minutes }: Flow): boolean {
  return minutes.includes(null);
}

/** The flow with its unknown minutes filled: what a step has beyond its known minutes is spread over the others. */
export function fillFlow(flow: Flow, steps: readonly FlowStep[]): Flow {
  const first = flow.minute - MINUTES + 1;
  const minutes = flow.minutes.map((value) => value ?? 0);
  for (const { minute: start, length, total } of steps) {
    const span = Array.from({ length: Math.max(0, Math.min(length, flow.minute - start + 1)) }, (_, at) => start + at);
    const known = span
      .map((minute) => flow.minutes[minute - first])
      .filter((value) => value !== null && value !== undefined);
    const unknown = span.length - known.length;
    const rest = Math.max(0, total - known.reduce((sum, value) => sum + value, 0));
    for (const minute of span) if (flow.minutes[minute - first] === null) minutes[minute - first] = rest / unknown;
  }
  return { ...flow, minutes };
}

const filled = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);
