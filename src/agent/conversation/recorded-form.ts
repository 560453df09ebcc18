// The form in which the journal stores what a step has of a reply in addition to its text and calls.
import type { JsonObject } from '../../domain/json.ts';
import type { TextPart, ThinkingPart } from '../models/message.ts';

/**
 * A part that was recorded: a text has only its length, a call only its id; the step has the rest. `proof`: what the server
 * wants back.
 */
export type RecordedPart =
  | { readonly type: 'text'; readonly characters: number }
  | TextPart
  | ThinkingPart
  | { readonly type: 'call'; readonly id: string; readonly proof?: JsonObject };

/** What is recorded of a reply in addition to its text and calls. */
export interface Recorded {
  /** The model's name at its endpoint; null if it was not recorded. */
  readonly model: string | null;
  readonly ending: string;
  readonly parts: readonly RecordedPart[];
  /** Why the arguments of a call could not be read, by its id. */
  readonly faults: Readonly<Record<string, string>>;
}
