// A feed: one stream of events as bytes, encoded once and sent to all its watchers, from any event on.
import { type Frame, joined, makePastPages, type Page, type PastPages, type ReadFrames } from './past-pages.ts';

/** What a watcher does with the bytes of complete events. */
export interface Watcher {
  send(bytes: Buffer): void;
  /**
   * While it catches up: what to wait for before it is sent more. A watcher that is too slow for live events is
   * disconnected.
   */
  pause(): Promise<void> | undefined;
  /** Whether it has yet to read what it was sent. */
  isBehind(): boolean;
  /** Nothing follows. */
  end(): void;
  /** The events that follow could not be read. */
  failed(error: unknown): void;
}

export interface Following {
  close(): void;
}

export interface Feed {
  /** Gives a watcher all events with an id above `afterId`, each once and in order; null: those from now on. */
  follow(afterId: number | null, watcher: Watcher): Following;
}

export interface FeedParts {
  readonly read: ReadFrames;
  /** The newest id of the past; undefined when there is nothing left to follow. */
  newestId(): Promise<number | undefined>;
  /** Called whenever the last watcher has left. */
  abandoned(): void;
}

interface Member {
  readonly watcher: Watcher;
  /** The last event that it was given. */
  cursor: number;
  closed: boolean;
}

/** A feed to which committed events are published. */
export class OpenFeed implements Feed {
  readonly #parts: FeedParts;
  readonly #pages: PastPages;
  readonly #members = new Set<Member>();
  /** The watchers that have everything published. The others catch up. */
  readonly #live = new Set<Member>();
  #behind = 0;
  #newest = 0;
  /** The event after which nothing follows, once it was published. */
  #last: Frame | undefined;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#pages = makePastPages(parts.read);
  }

  follow(afterId: number | null, watcher: Watcher): Following {
    const member: Member = { watcher, cursor: afterId ?? 0, closed: false };
    this.#members.add(member);
    void this.#begin(member, afterId === null);
    return { close: () => this.#leave(member) };
  }

  /** Sends committed events to the watchers that have everything before them. */
  publish(frames: readonly Frame[]): void {
    this.#pages.forget();
    const [first, final] = [frames[0]!, frames.at(-1)!];
    if (final.isLast) this.#last = final;
    else this.#newest = final.id;
    const bytes = joined(frames);
    for (const member of this.#live) {
      const fresh = member.cursor < first.id ? bytes : joined(frames.filter(({ id }) => id > member.cursor));
      member.cursor = Math.max(member.cursor, final.id);
      if (fresh.length > 0) member.watcher.send(fresh);
      if (final.isLast) this.#end(member);
    }
  }

  /** Sends watchers that have everything published, and read it, what is in no journal. */
  mention(bytes: Buffer): void {
    for (const { watcher } of this.#live) if (!watcher.isBehind()) watcher.send(bytes);
  }

  /** Committed events are lost to all watchers: they have to reconnect to get them. */
  fail(error: unknown): void {
    for (const member of this.#members) this.#fail(member, error);
  }

  async #begin(member: Member, fromNow: boolean): Promise<void> {
    this.#behind += 1;
    try {
      await this.#catchUp(member, fromNow);
    } catch (error) {
      this.#fail(member, error);
    }
    this.#behind -= 1;
    if (this.#behind === 0) this.#pages.forget();
  }

  /** Reads until nothing was published meanwhile. From then on the watcher gets what is published. */
  async #catchUp(member: Member, fromNow: boolean): Promise<void> {
    const found = await this.#parts.newestId();
    if (found === undefined) return this.#end(member);
    if (fromNow) member.cursor = found;
    while (!member.closed) {
      const page = await this.#pages.after(member.cursor);
      if (await this.#give(member, page)) return;
      // Published events of a deleted session may be erased before they are read.
      const isOver = this.#last !== undefined && page.pieces.length === 0;
      if (!isOver && (!page.isEnd || this.#newest > member.cursor)) continue;
      if (this.#last === undefined) this.#live.add(member);
      else {
        member.watcher.send(this.#last.bytes);
        this.#end(member);
      }
      return;
    }
  }

  /** Sends a page. Returns whether nothing follows for this watcher. */
  async #give(member: Member, { pieces }: Page): Promise<boolean> {
    for (const { lastId, bytes, isLast } of pieces) {
      if (member.closed) return true;
      member.cursor = lastId;
      member.watcher.send(bytes);
      if (isLast) this.#end(member);
      else await member.watcher.pause();
    }
    return member.closed;
  }

  #end(member: Member): void {
    if (this.#leave(member)) member.watcher.end();
  }

  #fail(member: Member, error: unknown): void {
    if (this.#leave(member)) member.watcher.failed(error);
  }

  /** Returns whether it was still there. */
  #leave(member: Member): boolean {
    if (member.closed) return false;
    member.closed = true;
    this.#live.delete(member);
    this.#members.delete(member);
    if (this.#members.size === 0) this.#parts.abandoned();
    return true;
  }
}
