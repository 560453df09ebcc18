// What the requests of both conversation protocols share (§1, C1, D4).
import type { JsonObject } from '../../domain/json.ts';
import { array, json, object } from '../shapes/composites.ts';
import { line, oneOf, string, text, uuid } from '../shapes/scalars.ts';
import { type JsonOf, nullish, optional, type Shape, type Static } from '../shapes/shape.ts';

/** A key that finds the run of a repeated request: 1 to 128 characters on one line. */
export const idempotencyKey = line({ max: 128 });

/** Needed on both endpoints, and only echoed. */
export const model = text({ max: 256 });

const known = object({ session_id: nullish(uuid) });
type Metadata = Static<typeof known> & { readonly said?: JsonObject };

/** The session that the turn continues; and all that the client said there. */
export const metadata = nullish<Metadata, JsonOf<typeof known>, never>({
  ...known,
  read: (value, path) => ({ ...known.read(value, path), said: value as JsonObject }),
});

const MAX_MESSAGES = 10_000;

const anyMessage = object({ role: string, content: optional(json) });

/** Messages of which the last user's is read: of all others, and so of the schema's second kind, only the form counts (§1). */
export function messagesOf(content: Shape<unknown, unknown, never>) {
  const userMessage = object({ role: oneOf(['user']), content });
  const message: typeof anyMessage = {
    ...anyMessage,
    describe: (components) => ({ anyOf: [userMessage.describe(components), anyMessage.describe(components)] }),
  };
  return array(message, { min: 1, max: MAX_MESSAGES, words: `must hold at most ${MAX_MESSAGES} messages` });
}

export type TurnMessages = Static<ReturnType<typeof messagesOf>>;
