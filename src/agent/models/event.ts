// What a model's reply consists of, as it arrives: the same events for both protocols and the offline engine.
import type { JsonObject } from '../../domain/json.ts';
import type { Usage } from '../../domain/sessions/usage.ts';

/** How a complete reply ends. */
export type Ending = 'stop' | 'tool-calls' | 'length' | 'content-filter';

/**
 * One event of a reply. Deltas of text, thinking and arguments are never empty. `call` is the reader's number of a call, in the
 * order in which calls start; their deltas may alternate.
 */
export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /**
   * What the server wants back with the thinking before it, or with a call; a later one replaces fields of the same name.
   * `isLate`: other parts began between the thinking and its proof.
   */
  | { readonly type: 'proof'; readonly proof: JsonObject; readonly call?: number; readonly isLate?: boolean }
  | { readonly type: 'call-start'; readonly call: number; readonly id: string; readonly name: string }
  | { readonly type: 'call-delta'; readonly call: number; readonly json: string }
  /** The text or thinking is complete; what follows is another block. */
  | { readonly type: 'block-end' }
  /** Counts, as far as they are known; later ones replace earlier ones. */
  | { readonly type: 'usage'; readonly usage: Partial<Usage> }
  /** Always the last one of a complete reply. */
  | { readonly type: 'finish'; readonly ending: Ending };

/** Takes the events of a reply in order, at once. */
export type TakeEvent = (event: ModelEvent) => void;
