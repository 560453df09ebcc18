// References within one JSON document (RFC 6901), as `$ref` writes them.
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** The schema that a reference such as `#/$defs/name` leads to; undefined when it leads to none in this document. */
export function findReferenced(root: JsonObject, ref: string): JsonObject | boolean | undefined {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let at: JsonValue | undefined = root;
  for (const step of ref.split('/').slice(1)) {
    const name = unescaped(step);
    if (name === undefined || typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, JsonValue>)[name];
  }
  return isJsonObject(at) || typeof at === 'boolean' ? at : undefined;
}

function unescaped(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
