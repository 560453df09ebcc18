// Fits the columns of a table into a width: what is worth least goes first, what may grow takes the rest.

/** What there may be no room for; the higher its worth, the longer it stays. */
export interface Worthy {
  readonly worth: number;
}

/** The room that a column of a table takes, in columns of the terminal. */
export interface Sizing extends Worthy {
  /** How many it needs. */
  readonly width: number;
  /** Up to how many it makes use of. */
  readonly most?: number;
  /** From how many on it is comfortable; a luxury stays only while every other column is. */
  readonly ample?: number;
  readonly isLuxury?: true;
}

/** Between columns. */
export const GAP = 2;

/** Those that stay: what is worth least is left out, of equals the last, until what is left fits. */
export function keepByWorth<T extends Worthy>(
  all: readonly T[],
  fits: (kept: readonly T[], least: T) => boolean,
): readonly T[] {
  let kept = all;
  while (kept.length > 0) {
    const least = kept.reduce((lowest, one) => (one.worth <= lowest.worth ? one : lowest));
    if (fits(kept, least)) break;
    kept = kept.filter((one) => one !== least);
  }
  return kept;
}

/** The columns that fit into `available` together, each with the width that it gets. The last one left is cut. */
export function fitColumns<C extends Sizing>(columns: readonly C[], available: number): C[] {
  const kept = keepByWorth(columns, (kept, { isLuxury = false }) => {
    const widths = kept.map(({ width, ample = width }) => (isLuxury ? ample : width));
    return kept.length === 1 || taken(widths) <= available;
  });
  const widths = grown(kept, available);
  return kept.map((column, at) => ({ ...column, width: widths[at]! }));
}

const taken = (widths: readonly number[]) => widths.reduce((sum, width) => sum + width + GAP, -GAP);

/** Shares what is left between the columns that may grow, first until each is comfortable, in steps of one so that none starves. */
function grown(columns: readonly Sizing[], available: number): readonly number[] {
  const widths = columns.map(({ width }) => Math.min(width, available));
  const amples = columns.map(({ most = 0, ample = 0 }) => Math.min(most, ample));
  const mosts = columns.map(({ most = 0 }) => most);
  return [amples, mosts].reduce((before, limits) => grownTo(limits, before, available), widths);
}

function grownTo(limits: readonly number[], before: readonly number[], available: number): number[] {
  const widths = [...before];
  let rest = available - taken(widths);
  while (rest > 0) {
    const growing = limits.flatMap((limit, at) => (widths[at]! < limit ? [at] : []));
    if (growing.length === 0) break;
    for (const at of growing.slice(0, rest)) widths[at]! += 1;
    rest -= growing.length;
  }
  return widths;
}
