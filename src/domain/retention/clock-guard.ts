// Whether the wall clock can be trusted to say what is old: one that jumps ahead must not remove everything at once.

/** The wall time that was last seen, epoch ms; until `heldUntil` nothing is removed by age. */
export interface SeenClock {
  readonly seenAt: number;
  readonly heldUntil: number | null;
}

const DAY_MS = 86_400_000;
/** A clock that is ahead of the last look by more has jumped, or no daemon ran meanwhile. */
export const JUMP_MS = 2 * DAY_MS;
/** How long a clock has to run on after a jump before it is trusted. */
export const HOLD_MS = DAY_MS;

/** What is known of the clock after a look at it. A clock that is set back makes everything younger, so it holds nothing. */
export function lookAtClock(before: SeenClock | undefined, now: number): SeenClock {
  if (before === undefined) return { seenAt: now, heldUntil: null };
  if (now > before.seenAt + JUMP_MS) return { seenAt: now, heldUntil: now + HOLD_MS };
  const { heldUntil } = before;
  const isOver = heldUntil === null || now >= heldUntil || now < heldUntil - HOLD_MS;
  return { seenAt: now, heldUntil: isOver ? null : heldUntil };
}
