// How the sessions of a key are found for clients that name none (M1).

/**
 * `field`: of the request, and what it says is the name of a session; `history`: what a client resends of the conversation is the name;
 * `never`: each turn that names no session gets one that nobody comes back to.
 */
export type ContinueBy =
  | { readonly by: 'header' | 'metadata'; readonly field: string }
  | { readonly by: 'history' | 'never' };

/** Characters of a name that a client gives a conversation. */
export const MAX_CLIENT_NAME = 256;

const FIELD = /^(header|metadata):([\w!#$%&'*+.^`|~-]{1,64})$/;
/** Headers and fields that say something else. */
const TAKEN =
  /^(header:(authorization|proxy-.*|cookie|host|connection|content-.*|transfer-encoding|accept.*|x-api-key|idempotency-key|traceparent|user-agent|(errand|x)-session-id|x-stream-.*)|metadata:session_id)$/i;

/** `header:NAME`, `metadata:FIELD`, `history` or `never`; undefined for any other text. */
export function continueByOf(text: string): ContinueBy | undefined {
  if (text === 'history' || text === 'never') return { by: text };
  const [, by, field] = FIELD.exec(text) ?? [];
  if (by === undefined || TAKEN.test(text)) return undefined;
  return by === 'header' ? { by, field: field!.toLowerCase() } : { by: 'metadata', field: field! };
}
