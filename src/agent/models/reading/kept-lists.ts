// Puts together the lists that a server streams in pieces and wants back as a whole.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.ts';
import { checkParts } from '../protocol.ts';

export interface KeptLists {
  /** Takes what a delta has of the lists. */
  take(delta: JsonObject): void;
  /** The lists that have anything, by name. */
  kept(): JsonObject;
}

/** `names`: the lists, each with the fields of its items that arrive in pieces. */
export function makeKeptLists(names: Readonly<Record<string, readonly string[]>>): KeptLists {
  const all = Object.entries(names);
  const kept: JsonObject = {};
  return {
    take: (delta) => {
      for (const [name, pieces] of all) {
        const items = delta[name];
        if (Array.isArray(items) && items.length > 0)
          kept[name] = joined((kept[name] ?? []) as JsonValue[], items, pieces);
      }
    },
    kept: () => kept,
  };
}

/** The list with more items. An item that continues the last one, by its type and index, becomes part of it. */
function joined(list: JsonValue[], items: readonly JsonValue[], pieces: readonly string[]): JsonValue[] {
  for (const item of items) {
    const last = list.at(-1);
    if (isJsonObject(last) && isJsonObject(item) && continues(last, item))
      list[list.length - 1] = merged(last, item, pieces);
    else list.push(item);
  }
  checkParts(list.length);
  return list;
}

function continues(last: JsonObject, item: JsonObject): boolean {
  // A signature is the end of what it signs, and what is encrypted arrives whole.
  const isSealed = (typeof last['signature'] === 'string' && last['signature'] !== '') || 'data' in item;
  return !isSealed && last['type'] === item['type'] && last['index'] === item['index'];
}

function merged(last: JsonObject, item: JsonObject, pieces: readonly string[]): JsonObject {
  const whole = { ...last };
  for (const [name, value] of Object.entries(item)) {
    const before = whole[name];
    if (pieces.includes(name) && typeof before === 'string' && typeof value === 'string') whole[name] = before + value;
    else if (value !== null) whole[name] = value;
  }
  return whole;
}
