// The texts that stand in for the long strings of a body, which are stored in a file while the rest is parsed.
import { unprocessable } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';

/** How every stand-in begins. Texts with a NUL are refused, so that none is ever taken for the string that it represents. */
export const STAND_IN = '\u0000spooled:';

/** Whether a text is a stand-in, or looks like one. */
export function isStandIn(text: string): boolean {
  return text.startsWith(STAND_IN);
}

/** Whether a stand-in is somewhere in a value that would be kept as it is. */
export function holdsStandIn(value: JsonValue): boolean {
  return JSON.stringify(value).includes(JSON.stringify(STAND_IN).slice(1, -1));
}

/** Refuses a stand-in where no string was spooled. Throws `unprocessable`. */
export function requireNoStandIn(text: string, path: string): void {
  if (isStandIn(text)) throw unprocessable(path, 'is too long');
}
