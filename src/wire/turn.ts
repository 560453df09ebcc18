// What the requests of both conversation protocols share (§1, C1, D4).
import type { JsonValue } from '../domain/json.ts';
import { array, object } from './composites.ts';
import { line, string, text, uuid } from './scalars.ts';
import { nullish, optional, type Shape, type Static } from './shape.ts';

/** A key that finds the run of a repeated request: 1 to 128 characters on one line. */
export const idempotencyKey = line({ max: 128 });

/** Needed on both endpoints, and only echoed. */
export const model = text({ max: 256 });

/** The session that the turn continues. */
export const metadata = nullish(object({ session_id: nullish(uuid) }));

/** A value that is described by its shape, and read as it is: who needs it reads it through the shape, or never does. */
export function unread(shape: Shape<unknown>): Shape<JsonValue | undefined> {
  return { ...shape, read: (value) => value };
}

const MAX_MESSAGES = 10_000;

/** Messages of which one is read: those of other roles are only looked at for their form (§1 rules 1, 2). */
export function messagesOf(content: Shape<unknown>) {
  const message = object({ role: string, content: optional(unread(content)) });
  return array(message, { min: 1, max: MAX_MESSAGES, words: `must hold at most ${MAX_MESSAGES} messages` });
}

export type TurnMessages = Static<ReturnType<typeof messagesOf>>;
