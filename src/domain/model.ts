// What a model endpoint can be, in the words that the catalog and the agent share.

/** The protocols an endpoint may speak; `offline` is the built-in engine, which needs no network (J3, J5). */
export const ENDPOINT_KINDS = ['openai', 'anthropic', 'offline'] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];
