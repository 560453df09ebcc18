// Captures a command's output and converts it to text.
import { stripVTControlCharacters } from 'node:util';
import { KB } from '../../domain/byte-units.ts';

const FIRST_BYTES = 16 * KB;

export interface CapturedOutput {
  push(chunk: Buffer): void;
  /** Bytes seen so far. */
  bytes(): number;
  /** The output as text: no NULs, no terminal colours; invalid UTF-8 is replaced. */
  text(): string;
}

/** Starts a capture. The caller enforces the limit; memory stays below twice the pushed size. */
export function captureOutput(): CapturedOutput {
  let kept = Buffer.allocUnsafe(FIRST_BYTES);
  let total = 0;
  return {
    push(chunk) {
      if (total + chunk.length > kept.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * kept.length, total + chunk.length));
        kept.copy(larger, 0, 0, total);
        kept = larger;
      }
      chunk.copy(kept, total);
      total += chunk.length;
    },
    bytes: () => total,
    text: () => readable(kept.subarray(0, total)),
  };
}

function readable(bytes: Buffer): string {
  const plain = stripVTControlCharacters(bytes.toString('utf8'));
  // Control characters other than tab, line feed and carriage return are useless to readers, and NUL can't be stored (A5).
  return plain.replaceAll(/\r\n/g, '\n').replaceAll(/[^\P{Cc}\t\n\r]/gu, '\uFFFD');
}
