// The watchers of Office Mode's streams: sends them events and heartbeats, and disconnects those that do not read (G9, G16).
import type { ServerResponse } from 'node:http';
import { KB, MB } from '../../domain/byte-units.ts';
import type { Clock, Timer } from '../../domain/clock.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Following, Watcher } from '../../events/feed.ts';
import type { Log } from '../../log/log.ts';
import type { WatchCredential } from '../frame/credential-watch.ts';
import type { Exchange } from '../frame/exchange.ts';
import { pauseOf } from '../replies/backlog.ts';
import { beginEventStream } from '../replies/sse.ts';

export interface WatcherParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: () => Pick<Settings, 'streams'>;
  /** Fires when open streams must end. */
  readonly draining: AbortSignal;
  readonly watchCredential: WatchCredential;
}

interface Watching {
  follow(watcher: Watcher): Following;
  /** Sent before the followed events. */
  readonly first?: Buffer;
}

/**
 * Opens a stream on a request's response. It stays open until its feed, the credential, the daemon or the client ends it.
 */
export type OpenWatch = (exchange: Pick<Exchange, 'res' | 'admit'>, watching: Watching) => void;

/** How long clients should wait before they reconnect. */
const RETRY = Buffer.from('retry: 2000\n\n');
const HEARTBEAT = Buffer.from(': heartbeat\n\n');
/** A watcher with more unsent bytes than this is disconnected before it gets the next event. */
const MOST_UNSENT_BYTES = MB;
/** With so many it is spared what comes again anyway. */
const BEHIND_BYTES = 64 * KB;
/** A watcher that has read nothing for this long, although there is something to read, is disconnected. */
const STALL_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 1_000;
/** Heartbeats sent in one check. Watchers that connected together get theirs one after another. */
const HEARTBEATS_AT_ONCE = 1_000;

/** Makes the function that opens streams. They share one timer. */
export function makeWatchers({ clock, log, settings, draining, watchCredential }: WatcherParts): OpenWatch {
  const open = new Set<OpenWatcher>();
  /** The time of the last check; nothing more precise is known. */
  const time = { now: clock.monotonic() };
  let timer: Timer | undefined;

  function arm(): void {
    if (timer !== undefined || open.size === 0) return;
    timer = clock.after(LOOK_EVERY_MS, () => {
      timer = undefined;
      time.now = clock.monotonic();
      lookAtAll();
      arm();
    });
  }

  function lookAtAll(): void {
    const silentSince = time.now - settings().streams.heartbeatSeconds * 1000;
    let left = HEARTBEATS_AT_ONCE;
    for (const watcher of open) {
      watcher.dropIfStalled();
      if (left > 0 && watcher.isSilentSince(silentSince)) {
        watcher.send(HEARTBEAT);
        left -= 1;
      }
    }
  }

  draining.addEventListener('abort', () => open.forEach((watcher) => watcher.end()), { once: true });
  return ({ res, admit }, { follow, first }) => {
    // The client may have disconnected while its access was checked.
    if (res.destroyed) return;
    if (open.size === 0) time.now = clock.monotonic();
    beginEventStream(res);
    res.write(RETRY);
    if (first !== undefined) res.write(first);
    if (draining.aborted) {
      res.end();
      return;
    }
    const watcher = new OpenWatcher(res, time, log);
    open.add(watcher);
    const following = follow(watcher);
    const unwatch = watchCredential(admit, () => watcher.end());
    res.once('close', () => {
      open.delete(watcher);
      following.close();
      unwatch();
      if (open.size > 0) return;
      timer?.cancel();
      timer = undefined;
    });
    arm();
  };
}

/** One watcher. There may be thousands: it holds no timer and no copy of what it is sent. */
class OpenWatcher implements Watcher {
  readonly #res: ServerResponse;
  readonly #time: { readonly now: number };
  readonly #log: Log;
  #sentAt: number;
  /** Bytes given to the connection, and how many of them it had sent at the last check that saw any sent. */
  #given = 0;
  #gone = 0;
  #progressAt: number;

  constructor(res: ServerResponse, time: { readonly now: number }, log: Log) {
    this.#res = res;
    this.#time = time;
    this.#log = log;
    this.#sentAt = time.now;
    this.#progressAt = time.now;
  }

  send(bytes: Buffer): void {
    const res = this.#res;
    if (res.writableEnded || res.destroyed) return;
    if (res.writableLength > MOST_UNSENT_BYTES) return this.#drop('too much is unsent');
    res.write(bytes);
    this.#given += bytes.length;
    this.#sentAt = this.#time.now;
  }

  pause(): Promise<void> | undefined {
    return pauseOf(this.#res);
  }

  isBehind(): boolean {
    return this.#res.writableLength > BEHIND_BYTES;
  }

  end(): void {
    if (!this.#res.writableEnded) this.#res.end();
  }

  failed(error: unknown): void {
    this.#log.warn({ err: error }, 'a stream of Office Mode failed');
    this.#res.destroy();
  }

  isSilentSince(at: number): boolean {
    return this.#sentAt <= at && this.#res.writableLength === 0;
  }

  dropIfStalled(): void {
    const { now } = this.#time;
    const unsent = this.#res.writableLength;
    const gone = this.#given - unsent;
    if (unsent === 0 || gone > this.#gone) {
      this.#gone = gone;
      this.#progressAt = now;
    } else if (now - this.#progressAt >= STALL_LIMIT_MS) this.#drop('it reads nothing');
  }

  #drop(reason: string): void {
    this.#log.debug({ reason }, 'a watcher was dropped');
    this.#res.destroy();
  }
}
