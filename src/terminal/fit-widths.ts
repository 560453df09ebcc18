// Fits the columns of a table into the width of a terminal.

/** A column before it is fitted. */
export interface Measured {
  /** Width of its widest cell, heading included. */
  readonly width: number;
  readonly worth: number;
  /** Whether its cells still say something when they are cut. */
  readonly isCuttable: boolean;
}

export const GAP = 2;
/** A text column keeps a third of the terminal, within these limits; columns worth less make room for it. */
const LEAST_TEXT = { share: 3, from: 12, to: 40 } as const;

/**
 * The width of each column so that all fit into `available`; null for those left out. Texts are cut before a column is left
 * out, the widest first; then the columns worth least go, the rightmost of them first. The last column left is cut.
 */
export function fitWidths(columns: readonly Measured[], available: number): (number | null)[] {
  const { share, from, to } = LEAST_TEXT;
  const leastText = Math.min(to, Math.max(from, Math.floor(available / share)));
  const least = ({ width, isCuttable }: Measured) => (isCuttable ? Math.min(width, leastText) : width);
  const kept = [...columns];
  while (kept.length > 1 && sum(kept.map(least)) > roomFor(kept, available)) {
    const worst = kept.reduce((lowest, column) => (column.worth <= lowest.worth ? column : lowest));
    kept.splice(kept.indexOf(worst), 1);
  }
  const cuttable = kept.length === 1 ? kept : kept.filter(({ isCuttable }) => isCuttable);
  const fixed = kept.filter((column) => !cuttable.includes(column)).map(({ width }) => width);
  const limit = levelOf(
    cuttable.map(({ width }) => width),
    roomFor(kept, available) - sum(fixed),
  );
  return columns.map((column) => {
    if (!kept.includes(column)) return null;
    return cuttable.includes(column) ? Math.min(column.width, limit) : column.width;
  });
}

const roomFor = (kept: readonly Measured[], available: number) => available - GAP * (kept.length - 1);

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** The width to which the widest columns are cut so that all take at most `room`. */
function levelOf(widths: readonly number[], room: number): number {
  let rest = Math.max(0, room);
  let count = widths.length;
  for (const width of widths.toSorted((a, b) => a - b)) {
    const share = Math.floor(rest / count);
    if (width > share) return share;
    rest -= width;
    count -= 1;
  }
  return Number.POSITIVE_INFINITY;
}
