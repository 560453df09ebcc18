// Pages of the journal of a run or of a session, in both directions: what the indexes have, with streamed text where there may be any.
import type { Reader, Step } from '../engine/statement.ts';
import { END_OF_JOURNAL } from '../engine/journal/places.ts';
import { type EventHead, type Mark, mayPrecedeText, type RunOfSession } from '../engine/journal/rows.ts';
import { listTexts, type TextSpan } from '../engine/journal/text.ts';

/** Events with an id above `afterId` and below `beforeId`, which is null for no bound: from the oldest on, or from the newest. */
export interface EventRange {
  readonly afterId: number;
  readonly beforeId: number | null;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/** A range with both bounds. */
export interface BoundRange extends EventRange {
  readonly beforeId: number;
}

/** Some events, in the order of their range. `isCut`: they are fewer than its limit, since they are long, and never none. */
export interface JournalPage<Event> {
  readonly events: readonly Event[];
  readonly isCut: boolean;
}

/** What a journal has beside text. */
export interface Others {
  list(tx: Reader, range: BoundRange): Step<EventHead[]>;
  /** The run that may stream behind an id, with its last event up to there. */
  openAt(tx: Reader, id: number): Step<Open | undefined>;
}

export interface Open {
  readonly run: RunOfSession;
  readonly mark: Mark;
}

/** Rows that are read at once: with much text, most of a page is that. */
const PORTION = 100;

type OwnMark = Mark & Pick<EventHead, 'runId'>;

/** The events of a page of a journal, without their contents. */
export function* listPage(tx: Reader, others: Others, { order, limit, ...range }: EventRange): Step<EventHead[]> {
  const page: EventHead[] = [];
  let [afterId, beforeId] = [range.afterId, range.beforeId ?? END_OF_JOURNAL];
  for (let isMore = true; isMore && page.length < limit; ) {
    const portion = Math.min(PORTION, limit - page.length);
    const rows = yield* others.list(tx, { afterId, beforeId, order, limit: portion });
    isMore = rows.length === portion;
    // Up to the last of these rows the portion is whole: text behind that is the next one's.
    const reached = isMore ? rows.at(-1)!.id : null;
    const part = {
      afterId: order === 'desc' ? (reached ?? afterId) : afterId,
      beforeId: order === 'asc' ? (reached ?? beforeId) : beforeId,
    };
    const open = part.afterId === 0 ? undefined : yield* others.openAt(tx, part.afterId);
    const spans = spansOf(rows.toSorted(inOrder('asc')), open, part);
    const texts = yield* listSpans(tx, spans, { order, limit: limit - page.length });
    page.push(...[...rows, ...texts].sort(inOrder(order)).slice(0, limit - page.length));
    if (order === 'asc') afterId = reached ?? afterId;
    else beforeId = reached ?? beforeId;
  }
  return page;
}

/** Where a part of a journal may have text: between two events of a run. */
function spansOf(rows: readonly EventHead[], open: Open | undefined, part: Pick<BoundRange, 'afterId' | 'beforeId'>) {
  const marks = rows.filter(({ runSeq }) => runSeq !== null);
  const runs = new Map<number, OwnMark[]>(Map.groupBy(marks, ({ runSeq }) => runSeq!));
  if (open !== undefined && rows[0]?.id !== open.mark.id) {
    const { run, mark } = open;
    runs.set(run.seq, [{ ...mark, runId: run.id }, ...(runs.get(run.seq) ?? [])]);
  }
  const spans: TextSpan[] = [];
  for (const [runSeq, own] of runs) {
    for (const [at, mark] of own.entries()) {
      const next = own[at + 1];
      if (!mayPrecedeText(mark, next)) continue;
      const [afterId, beforeId] = [Math.max(mark.id, part.afterId), next?.id ?? part.beforeId];
      spans.push({ runSeq, runId: mark.runId!, afterId, beforeId });
    }
  }
  return spans.sort((a, b) => a.afterId - b.afterId);
}

function* listSpans(
  tx: Reader,
  spans: readonly TextSpan[],
  { order, limit }: Pick<EventRange, 'order' | 'limit'>,
): Step<EventHead[]> {
  const texts: EventHead[] = [];
  for (const span of order === 'asc' ? spans : spans.toReversed()) {
    if (texts.length === limit) break;
    texts.push(...(yield* listTexts(tx, span, { order, limit: limit - texts.length })));
  }
  return texts;
}

function inOrder(order: EventRange['order']) {
  const direction = order === 'asc' ? 1 : -1;
  return (a: EventHead, b: EventHead) => (a.id - b.id) * direction;
}
