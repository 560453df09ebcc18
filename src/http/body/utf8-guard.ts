// Checks whether bytes that arrive in chunks are UTF-8.
import { isUtf8 } from 'node:buffer';

const NONE = Buffer.alloc(0);
const LONGEST = 4;

export interface Utf8Guard {
  /** Whether the bytes so far can begin a text. */
  take(chunk: Buffer): boolean;
  /** Whether the text ended with a complete character. */
  isWhole(): boolean;
}

/** Makes the guard of one text. */
export function makeUtf8Guard(): Utf8Guard {
  let begun = NONE;
  return {
    take: (chunk) => {
      const bytes = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
      const cut = bytes.length - begunAtEnd(bytes);
      begun = cut === bytes.length ? NONE : Buffer.from(bytes.subarray(cut));
      return isUtf8(bytes.subarray(0, cut));
    },
    isWhole: () => begun.length === 0,
  };
}

/** Bytes at the end of a character that continues in the next chunk. */
function begunAtEnd(bytes: Buffer): number {
  for (let count = 1; count < LONGEST && count <= bytes.length; count += 1) {
    const byte = bytes[bytes.length - count]!;
    if (byte < 0x80) return 0;
    // The first byte of a character determines how many it has.
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > count ? count : 0;
  }
  return 0;
}
