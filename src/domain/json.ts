// JSON values, and the checks that keep hostile ones out.

/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** How deep a request's JSON may nest (A5). */
export const MAX_JSON_DEPTH = 64;

/** Whether a value is a plain JSON object rather than an array, null or a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns whether JSON text nests deeper than `limit`, without parsing it.
 * `JSON.parse` accepts millions of levels that nothing after it survives, so this runs first.
 */
export function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

/** Returns whether a value nests deeper than `limit`. Uses no stack, so any depth is safe. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const containers = level.filter((one): one is object => typeof one === 'object' && one !== null);
    if (containers.length === 0) return false;
    if (depth >= limit) return true;
    level = containers.flatMap((one) => (Array.isArray(one) ? one : Object.values(one)) as unknown[]);
  }
  return false;
}

/** Returns why a text can't be stored: `NUL`, a lone surrogate, or undefined (A5). */
export function findTextFault(text: string): 'a NUL character' | 'a lone surrogate' | undefined {
  if (text.includes('\u0000')) return 'a NUL character';
  return text.isWellFormed() ? undefined : 'a lone surrogate';
}
