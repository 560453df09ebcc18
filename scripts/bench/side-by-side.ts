// Loads that take turns in windows of the same number of runs: what slows the machine down for a while slows all of them.
import type { Scale } from './cases/scale.ts';
import { pause, type Volley } from './load.ts';
import { cpuMsOf } from './process-figures.ts';

/** Each round gives every side a window with the same number of runs, one after another. */
interface Rounds {
  readonly rounds: number;
  readonly runs: number;
}

const roundsOf = ({ loadMs }: Scale): Rounds => (loadMs < 2_000 ? { rounds: 9, runs: 150 } : { rounds: 30, runs: 400 });

/** By then, a window is over even on a slow machine. */
export const WINDOW_MS = 120_000;

/** One of them. */
export interface Side {
  /** Of the process whose time counts. */
  pid(): number;
  load(runs: number): Promise<Volley>;
  /** What follows a window and counts as its cost. */
  readonly after?: () => Promise<unknown>;
}

/** CPU milliseconds of a run of each side, in each round. `settleMs`: after a window, what its runs leave to be done is over by then. */
export async function sideBySide<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
  { scale, settleMs }: { readonly scale: Scale; readonly settleMs: number },
  failures: string[],
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(sides) as Name[];
  const cpuMs = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const { rounds, runs } = roundsOf(scale);
  for (let round = 0; round < rounds; round += 1) {
    // Each has the first place in turn.
    for (const at of names.keys()) {
      const name = names[(at + round) % names.length]!;
      const { pid, load, after } = sides[name];
      const before = cpuMsOf(pid());
      const volley = await load(runs);
      await after?.();
      await pause(settleMs);
      cpuMs[name].push((cpuMsOf(pid()) - before) / runs);
      failures.push(...volley.failures);
      if (volley.results.length < runs) failures.push(`a window of ${name} had ${volley.results.length} runs only`);
    }
  }
  return cpuMs;
}

/** The median, within the rounds, of what one costs of another. */
export const ratioOf = (one: readonly number[], other: readonly number[]): number =>
  median(one.map((each, round) => each / other[round]!));

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}
