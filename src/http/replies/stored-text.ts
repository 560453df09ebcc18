// Long texts as they are stored, in UTF-8: decoded and written a piece at a time.
import { Streamed } from './json-pieces.ts';

const PIECE_BYTES = 32_768;

/** A text as a JSON string. */
export function streamedText(bytes: Uint8Array): Streamed<string> {
  return new Streamed(async function* () {
    yield '"';
    for (const text of decoded(bytes)) yield JSON.stringify(text).slice(1, -1);
    yield '"';
  });
}

/** What is JSON already. */
export function storedJson<T>(bytes: Uint8Array): Streamed<T> {
  return new Streamed(async function* () {
    yield* decoded(bytes);
  });
}

/** The text, in pieces that end with a whole character. */
export function* decoded(bytes: Uint8Array): Iterable<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: at + PIECE_BYTES < bytes.length });
}
