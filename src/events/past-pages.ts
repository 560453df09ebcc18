// The past of a feed, in pages shared by all watchers that resume after the same event.
import { KB } from '../domain/byte-units.ts';

/** An event, ready to be sent. */
export interface Frame {
  readonly id: number;
  readonly bytes: Buffer;
  /** Nothing follows: the session is deleted. */
  readonly isLast: boolean;
}

/** Consecutive events of a page, as they are sent to every watcher. */
interface Piece {
  readonly bytes: Buffer;
  readonly lastId: number;
  readonly isLast: boolean;
}

export interface Page {
  readonly pieces: readonly Piece[];
  /** Nothing followed when the page was read. */
  readonly isEnd: boolean;
}

/** Consecutive events. `isCut`: they are fewer than `PAGE`, though more follow. */
export interface Frames {
  readonly frames: readonly Frame[];
  readonly isCut: boolean;
}

/** Reads the next events after one, in order. */
export type ReadFrames = (afterId: number) => Promise<Frames>;

export interface PastPages {
  after(id: number): Promise<Page>;
  /** More was committed, or nobody is reading any more. */
  forget(): void;
}

/** Events that are read at once. */
export const PAGE = 200;
/** Bytes sent at once, and more only for a single large event. */
const PIECE_BYTES = 64 * KB;
/** Pages kept for other watchers that resume. */
const MOST_PAGES = 16;

export function makePastPages(read: ReadFrames): PastPages {
  const pages = new Map<number, Promise<Page>>();
  return {
    after: (id) => {
      const known = pages.get(id);
      if (known !== undefined) return known;
      if (pages.size === MOST_PAGES) pages.clear();
      const page = read(id).then(toPage);
      pages.set(id, page);
      page.catch(() => pages.delete(id));
      return page;
    },
    forget: () => pages.clear(),
  };
}

/** The bytes of some events, one after another. */
export function joined(frames: readonly Frame[]): Buffer {
  return frames.length === 1 ? frames[0]!.bytes : Buffer.concat(frames.map(({ bytes }) => bytes));
}

function toPage({ frames, isCut }: Frames): Page {
  const pieces: Piece[] = [];
  for (let from = 0; from < frames.length; ) {
    let [to, size] = [from, 0];
    do size += frames[to++]!.bytes.length;
    while (to < frames.length && size + frames[to]!.bytes.length <= PIECE_BYTES);
    const last = frames[to - 1]!;
    pieces.push({ bytes: joined(frames.slice(from, to)), lastId: last.id, isLast: last.isLast });
    from = to;
  }
  return { pieces, isEnd: !isCut && frames.length < PAGE };
}
