// What a model endpoint can be, in the words that the catalog and the agent share.
import type { JsonObject } from '../json.ts';

/** The protocols an endpoint may speak; `offline` is the built-in engine, which needs no network (J3, J5). */
export const ENDPOINT_KINDS = ['openai', 'anthropic', 'offline'] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

/**
 * How a model submits a structured result: by calling a tool, or by a reply that its server keeps to the schema when the result is
 * due.
 */
export const STRUCTURED_WAYS = ['tool', 'json_schema'] as const;
export type StructuredWay = (typeof STRUCTURED_WAYS)[number];

/** What the limit of a reply's tokens is called in requests of kind openai; newer models know the second name only. */
export const MAX_TOKENS_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

/** What is sent with every call to an endpoint in addition to its protocol's fields. */
export interface CallExtras {
  /** By name in lower case. Values may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly maxTokensField: (typeof MAX_TOKENS_FIELDS)[number];
  /** Fields merged over the request's body; null removes one. */
  readonly extraBody: JsonObject;
}

/** No extras. */
export const NO_EXTRAS: CallExtras = { headers: {}, query: {}, maxTokensField: 'max_tokens', extraBody: {} };
