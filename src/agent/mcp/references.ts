// References of what models are shown: into what mending has moved, or has no place for.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { findReferenced } from '../../domain/schema/json-pointer.ts';
import { mendSchema } from './mend-schema.ts';

/**
 * A mended schema with a definition for each reference that leads nowhere in it, but does in the schema as it was sent. A model server
 * that follows references would refuse the request. Null when it would be larger than so many bytes.
 */
export function withReferences(shown: JsonObject, sent: JsonObject, maxBytes: number): JsonObject | null {
  const definitions: Record<string, JsonValue> = isJsonObject(shown['$defs']) ? { ...shown['$defs'] } : {};
  const written = new Map<string, string>();
  const left: [name: string, target: JsonObject | boolean][] = [];
  const refer = (ref: string): string | undefined => {
    if (findReferenced(shown, ref) !== undefined) return ref;
    const target = findReferenced(sent, ref);
    if (target === undefined || written.has(ref)) return written.get(ref);
    let name = `shared${written.size + 1}`;
    while (Object.hasOwn(definitions, name)) name += '_';
    definitions[name] = true;
    written.set(ref, `#/$defs/${name}`);
    left.push([name, target]);
    return written.get(ref);
  };
  const referred = mendSchema(shown, refer);
  let bytes = bytesOf(referred);
  for (const [name, target] of left) {
    if (bytes > maxBytes) return null;
    definitions[name] = isJsonObject(target) ? mendSchema(target, refer) : target;
    bytes += bytesOf(definitions[name]);
  }
  if (bytes > maxBytes) return null;
  return left.length === 0 ? referred : { ...referred, $defs: definitions };
}

const bytesOf = (value: JsonValue): number => Buffer.byteLength(JSON.stringify(value));
