// Reproducible random numbers: the same seed gives the same draws.

export interface Chance {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True once in `count` draws on average. */
  oneIn(count: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** Draws that depend on the seed and nothing else. */
export function makeChance(seed: number): Chance {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  const draw = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(draw() * (high - low + 1));
  return {
    between,
    oneIn: (count) => between(1, count) === 1,
    pick: (choices) => choices[between(0, choices.length - 1)]!,
  };
}
