// How connections leave this machine: whom they trust, and through which proxy. One set for all connections of a thread.

/** An HTTP proxy. */
export interface Proxy {
  /** `http://HOST:PORT` or `https://HOST:PORT`, without credentials. */
  readonly url: string;
  /** The value of `Proxy-Authorization`, a secret; null without credentials. */
  readonly authorization: string | null;
}

/** Plain data, which a brief carries to its worker. */
export interface Ways {
  /** The file of the system's trust store; null for the usual places. */
  readonly systemStore: string | null;
  /** Absolute path of a PEM file with issuers that are trusted in addition; null for none. */
  readonly caFile: string | null;
  /** By the scheme of the target; null reaches it directly. */
  readonly proxies: Readonly<Record<'http:' | 'https:', Proxy | null>>;
  /** Names, addresses and ranges that are reached directly, as in `NO_PROXY`. */
  readonly direct: readonly string[];
  /** Whether a proxy gets the names of guarded targets, so that it decides where they lead. */
  readonly proxyResolves: boolean;
}

/** The system's trust store, and no proxy. */
export const PLAIN_WAYS: Ways = {
  systemStore: null,
  caFile: null,
  proxies: { 'http:': null, 'https:': null },
  direct: [],
  proxyResolves: false,
};

// Like the trust of Node.js itself, this belongs to the thread: whatever opens a connection in it has the same ways.
let current = PLAIN_WAYS;

/** The ways of this thread now. */
export function waysNow(): Ways {
  return current;
}

/** Sets the ways of this thread for all connections that it opens from now on. */
export function takeWays(ways: Ways): void {
  current = ways;
}
