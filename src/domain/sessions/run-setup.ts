// What a model is asked with besides the conversation: instructions, and the definitions of its tools.
import type { JsonObject } from '../json.ts';

/**
 * As it is recorded: JSON of a `SetupText` in UTF-8, in memory that threads share, since mostly its hash alone is used; and that
 * hash in lower-case hex.
 */
export interface RunSetup {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** `omitted`: names of tools whose definitions had no room. */
export interface SetupText {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly omitted: readonly string[];
}

/** `schema` is JSON Schema. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}
