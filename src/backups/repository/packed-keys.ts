// Millions of SHA-256 keys, each with a number, in a fraction of the memory that their texts take: packed, in tables by their
// first byte, so that a table that grows holds little twice.

/** Of a slot, in words of 32 bits: half of a key, which names a content as surely, and a number, which is 0 in a free slot. */
const [KEY_WORDS, SLOT_WORDS] = [4, 6];
const KEY_BYTES = 4 * KEY_WORDS;
const FIRST_SLOTS = 8;
const GROWTH = 1.3;
/** The part of a table that is filled at most. */
const MAX_FILLED = 0.85;
const WORD = 2 ** 32;

export interface PackedKeys {
  /** Notes a key with a number, at least 1; returns false, and changes nothing, when the key is known. */
  add(key: string, value?: number): boolean;
  /** The number of a key; undefined when it isn't known. */
  get(key: string): number | undefined;
}

interface Table {
  words: Uint32Array;
  filled: number;
}

/** Makes an empty one. Keys are 64 hexadecimal digits. */
export function makePackedKeys(): PackedKeys {
  const tables = Array.from({ length: 256 }, () => ({ words: new Uint32Array(FIRST_SLOTS * SLOT_WORDS), filled: 0 }));
  const bytes = Buffer.alloc(KEY_BYTES);
  const key = new Uint32Array(bytes.buffer, bytes.byteOffset, KEY_WORDS);
  const tableOf = (text: string): Table => {
    bytes.write(text, 'hex');
    return tables[bytes[0]!]!;
  };
  return {
    add: (text, value = 1) => {
      const table = tableOf(text);
      const at = slotOf(table.words, key);
      if (valueAt(table.words, at) !== 0) return false;
      table.words.set(key, at);
      table.words[at + KEY_WORDS] = value % WORD;
      table.words[at + KEY_WORDS + 1] = Math.floor(value / WORD);
      table.filled += 1;
      if (table.filled * SLOT_WORDS > table.words.length * MAX_FILLED) grow(table);
      return true;
    },
    get: (text) => {
      const { words } = tableOf(text);
      return valueAt(words, slotOf(words, key)) || undefined;
    },
  };
}

const valueAt = (words: Uint32Array, at: number) => words[at + KEY_WORDS]! + words[at + KEY_WORDS + 1]! * WORD;

/** Where a key is, or the free slot where it belongs. */
function slotOf(words: Uint32Array, key: Uint32Array): number {
  const slots = words.length / SLOT_WORDS;
  for (let slot = key[1]! % slots; ; slot = (slot + 1) % slots) {
    const at = slot * SLOT_WORDS;
    if (valueAt(words, at) === 0 || key.every((word, i) => word === words[at + i])) return at;
  }
}

function grow(table: Table): void {
  const before = table.words;
  table.words = new Uint32Array(Math.ceil((before.length / SLOT_WORDS) * GROWTH) * SLOT_WORDS);
  for (let at = 0; at < before.length; at += SLOT_WORDS)
    if (valueAt(before, at) !== 0) {
      const slot = before.subarray(at, at + SLOT_WORDS);
      table.words.set(slot, slotOf(table.words, slot.subarray(0, KEY_WORDS)));
    }
}
