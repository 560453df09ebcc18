// JSON of replies with long lists, rendered and written in slices: 10,000 items at once would block all other requests.
import type { Pause } from '../../domain/pauses.ts';

/** Items of one slice; a list with more is long. */
const SLICE = 25;
/** How deep lists are looked for: in the data of an envelope. */
const DEPTH = 2;

/** Renders the items of a list. */
export async function renderSlices<T, W>(items: readonly T[], render: (item: T) => W, pause: Pause): Promise<W[]> {
  const rendered: W[] = [];
  for (let at = 0; at < items.length; at += SLICE) {
    for (const item of items.slice(at, at + SLICE)) rendered.push(render(item));
    await pause();
  }
  return rendered;
}

/** Whether a body has a list that is long enough for slices. */
export function hasLongList(value: unknown, depth = DEPTH): boolean {
  if (Array.isArray(value)) return value.length > SLICE;
  if (value === null || typeof value !== 'object' || depth === 0) return false;
  return Object.values(value).some((field) => hasLongList(field, depth - 1));
}

/** The JSON of a body, as `JSON.stringify` writes it. */
export async function longJson(body: object, pause: Pause): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (const piece of piecesOf(body, DEPTH)) {
    pieces.push(Buffer.from(piece));
    await pause();
  }
  return Buffer.concat(pieces);
}

function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (!hasLongList(value, depth)) yield JSON.stringify(value);
  else if (Array.isArray(value)) yield* listPieces(value);
  else yield* objectPieces(value as object, depth);
}

function* listPieces(items: readonly unknown[]): Generator<string> {
  yield '[';
  for (let at = 0; at < items.length; at += SLICE) {
    yield `${at === 0 ? '' : ','}${JSON.stringify(items.slice(at, at + SLICE)).slice(1, -1)}`;
  }
  yield ']';
}

function* objectPieces(value: object, depth: number): Generator<string> {
  let before = '{';
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* piecesOf(field, depth - 1);
    before = ',';
  }
  yield '}';
}
