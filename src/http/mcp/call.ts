// One call of a tool: who asks, what ends its wait, and what it gives.
import type { Halt } from '../../domain/halt.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Exchange } from '../frame/exchange.ts';

export interface ToolCall {
  readonly caller: KeyCaller;
  readonly exchange: Exchange;
  /** Fires when nobody waits for it any more: it was cancelled, or its client has disconnected. */
  readonly left: Halt;
  /** Whether it was cancelled, rather than left. */
  isCancelled(): boolean;
  /** Tells the client what is being done; null where it has not asked for that. */
  readonly report: ((words: string) => void) | null;
}

/** A link to something that `resources/read` reads. */
export interface Link {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string | null;
  /** Bytes. */
  readonly size?: number;
}

/** What a tool gives. */
export interface ToolResult {
  /** In the shape of the tool's output. */
  readonly output: object;
  readonly links?: readonly Link[];
  readonly picture?: { readonly data: string; readonly mimeType: string };
  /** What it tells of has failed. */
  readonly isError?: boolean;
}
