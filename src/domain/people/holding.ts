// What a user has, kind by kind: what there is to settle when they leave.

export const HOLDING_KINDS = [
  'key',
  'connection',
  'webhook',
  'scheduled_task',
  'page',
  'session',
  'unfinished_run',
] as const;
export type HoldingKind = (typeof HOLDING_KINDS)[number];

/** What has a name that says something to an administrator, and can be settled by itself. Sessions are titled by what was said. */
export type SettledKind = Exclude<HoldingKind, 'unfinished_run'>;

/** `count` ends at a limit; `names` has those of some. */
export interface Holding {
  readonly kind: HoldingKind;
  readonly count: number;
  readonly names: readonly string[];
}

/** Things are counted up to here. */
export const MOST_HELD = 10_000;
