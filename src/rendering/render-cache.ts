// Keeps what was rendered last, up to a number of bytes, and for a while what could not be rendered.
import type { Clock } from '../domain/clock.ts';
import type { RenderResult } from './rendering.ts';

/** What an entry costs in addition to its HTML. */
const ENTRY_BYTES = 512;
/** What a heading costs in addition to its texts. */
const HEADING_BYTES = 100;
/** A hostile document costs its limits once in this time, however often it is asked for. */
const REFUSAL_MS = 60 * 60_000;

interface Entry {
  readonly result: RenderResult;
  readonly bytes: number;
  readonly until: number;
}

export interface RenderCache {
  get(key: string): RenderResult | undefined;
  set(key: string, result: RenderResult): void;
}

/** Makes a cache that forgets what was not asked for the longest. */
export function makeRenderCache(maxBytes: number, clock: Pick<Clock, 'monotonic'>): RenderCache {
  const entries = new Map<string, Entry>();
  let held = 0;

  function remove(key: string): void {
    held -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  return {
    get: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      remove(key);
      if (clock.monotonic() >= entry.until) return undefined;
      entries.set(key, entry);
      held += entry.bytes;
      return entry.result;
    },
    set: (key, result) => {
      remove(key);
      const bytes = ENTRY_BYTES + (result.kind === 'html' ? bytesOf(result) : 0);
      const until = result.kind === 'refused' ? clock.monotonic() + REFUSAL_MS : Infinity;
      entries.set(key, { result, bytes, until });
      held += bytes;
      for (const oldest of entries.keys()) {
        if (held <= maxBytes) return;
        remove(oldest);
      }
    },
  };
}

/** Strings have two bytes a character, or one. */
function bytesOf({ html, contents: { headings } }: Extract<RenderResult, { readonly kind: 'html' }>): number {
  return headings.reduce((sum, { id, text }) => sum + HEADING_BYTES + 2 * (id.length + text.length), html.length);
}
