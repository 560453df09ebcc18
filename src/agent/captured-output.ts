// Keeps the beginning and the end of a command's output, however much there is, and makes text of it.
import { stripVTControlCharacters } from 'node:util';

const HEAD_BYTES = 16 * 1024;
const TAIL_BYTES = 32 * 1024;

export interface CapturedOutput {
  push(chunk: Buffer): void;
  /** Bytes seen so far, kept or not. */
  bytes(): number;
  /** The output as text: no NULs, no terminal colours, what is no UTF-8 replaced, a note where the middle is missing. */
  text(): string;
}

/** Begins to capture. Memory stays under a few times what is kept. */
export function captureOutput(): CapturedOutput {
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let total = 0;
  return {
    push(chunk) {
      total += chunk.length;
      const first = chunk.subarray(0, HEAD_BYTES - headBytes);
      if (first.length > 0) head.push(first);
      headBytes += first.length;
      const rest = chunk.subarray(first.length);
      tail.push(rest);
      tailBytes += rest.length;
      if (tailBytes <= 2 * TAIL_BYTES) return;
      tail = [Buffer.from(Buffer.concat(tail).subarray(-TAIL_BYTES))];
      tailBytes = TAIL_BYTES;
    },
    bytes: () => total,
    text() {
      const end = Buffer.concat(tail).subarray(-TAIL_BYTES);
      const missing = total - headBytes - end.length;
      if (missing === 0) return readable(Buffer.concat([...head, end]));
      return `${readable(Buffer.concat(head))}\n[… ${missing} bytes are left out here …]\n${readable(end)}`;
    },
  };
}

function readable(bytes: Buffer): string {
  const plain = stripVTControlCharacters(bytes.toString('utf8'));
  // Control characters other than tab, line feed and carriage return help no reader, and NUL may not be stored (A5).
  return plain.replaceAll(/\r\n/g, '\n').replaceAll(/[^\P{Cc}\t\n\r]/gu, '\uFFFD');
}
