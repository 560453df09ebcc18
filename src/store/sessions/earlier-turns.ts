// The turns before a run, newest first, a page at a time, until a budget is spent.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MB } from '../../domain/byte-units.ts';
import type { StoredTurn } from './stored-turn.ts';

/** Turns are read in pages that double in size, starting with this many, newest first, until the budget is spent. */
const FIRST_PAGE = 8;
const LARGEST_PAGE = 256;
/** Bytes of a page, unless it has only one turn. */
const LARGEST_PAGE_BYTES = MB;

/** The budget of earlier turns. A turn that exceeds `bytes` is not read at all. */
export interface TurnBudget {
  /** Approximate limit on what a model reads. */
  readonly characters: number;
  /** As stored in the rows, with the texts of documents. */
  readonly bytes: number;
  /** The maximum size of the text of a document. */
  readonly documentBytes: number;
  /** No turn before this run. */
  readonly fromRunSeq?: number;
}

/** Turns, oldest first. `isCut`: there are older ones, for which there was no room. */
export interface EarlierTurns {
  readonly turns: readonly StoredTurn[];
  readonly isCut: boolean;
}

/** Turns of a session before a run and from another one on. */
export interface Page {
  readonly sessionSeq: number;
  readonly before: number;
  readonly from: number;
  readonly limit: number;
}

/** The same, with what counts of the text of a document. */
export interface SizedPage extends Page, Pick<TurnBudget, 'documentBytes'> {}

/** The verbs on one page: the stored bytes of its turns, and the turns, newest first. */
interface PageVerbs {
  sizes(place: SizedPage): Promise<number[]>;
  page(place: Page): Promise<StoredTurn[]>;
}

/** Makes the function. Between two pages, others get their turn of the loop. */
export function makeReadBefore({ sizes, page }: PageVerbs) {
  return async (sessionSeq: number, runSeq: number, budget: TurnBudget): Promise<EarlierTurns> => {
    const { fromRunSeq: from = 0, documentBytes } = budget;
    const turns: StoredTurn[] = [];
    let [before, left, bytesLeft] = [runSeq, budget.characters, budget.bytes];
    for (let limit = FIRST_PAGE; ; limit = Math.min(2 * limit, LARGEST_PAGE)) {
      const place = { sessionSeq, before, from, limit };
      const measured = await sizes({ ...place, documentBytes });
      const count = fittingOf(measured, bytesLeft);
      for (const turn of count === 0 ? [] : await page({ ...place, limit: count })) {
        if (left <= 0) return { turns: turns.toReversed(), isCut: true };
        left -= sizeOf(turn);
        turns.push(turn);
      }
      const isPart = count < measured.length;
      bytesLeft -= measured.slice(0, count).reduce((sum, bytes) => sum + bytes, 0);
      if (isPart && (count === 0 || measured[count]! > bytesLeft)) return { turns: turns.toReversed(), isCut: true };
      if (!isPart && measured.length < limit) return { turns: turns.toReversed(), isCut: false };
      before = turns.at(-1)!.runSeq;
      await nextTurn();
    }
  };
}

/** How many of these turns are read at once: as many as fit into the budget, and into a page unless the first is larger. */
function fittingOf(sizes: readonly number[], budget: number): number {
  let sum = 0;
  for (const [index, bytes] of sizes.entries()) {
    sum += bytes;
    if (sum > budget || (index > 0 && sum > LARGEST_PAGE_BYTES)) return index;
  }
  return sizes.length;
}

function sizeOf(turn: StoredTurn): number {
  let size = 0;
  for (const block of turn.user) size += block.type === 'text' ? block.text.length : 0;
  for (const step of turn.steps) {
    size += step.text.length;
    for (const call of step.calls) size += call.output.length + 100;
  }
  return size + 50;
}
