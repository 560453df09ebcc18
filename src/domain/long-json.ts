// JSON of large values in pieces: rendering one at once would take the loop for as long.
import { piecesOfText } from './text-pieces.ts';

/** What is rendered at once: about so many characters. */
export const LIGHT = 16_384;
/** What a number, a name or a bracket counts. */
const SMALLEST = 8;

/** Whether a value's JSON is short. */
export const isLight = (value: unknown): boolean => leftAfter(value, LIGHT) >= 0;

function leftAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (value === null || typeof value !== 'object') return room - SMALLEST;
  let left = room;
  for (const part of Array.isArray(value) ? value : Object.values(value)) {
    left = leftAfter(part, left - SMALLEST);
    if (left < 0) return left;
  }
  return left;
}

/** The JSON of a value, as `JSON.stringify` writes it. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (isLight(value)) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* stringPieces(value);
  else if (Array.isArray(value)) yield* listPieces(value);
  else yield* objectPieces(value as object);
}

function* stringPieces(text: string): Generator<string> {
  yield '"';
  // A half of a character would be escaped.
  for (const piece of piecesOfText(text, LIGHT)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

function* listPieces(items: readonly unknown[]): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* jsonPieces(item);
    before = ',';
  }
  yield ']';
}

function* objectPieces(value: object): Generator<string> {
  let before = '{';
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(field);
    before = ',';
  }
  yield '}';
}
