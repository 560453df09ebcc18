// JSON in pieces: what is large is neither rendered nor held at once.
import type { Portion, Portions } from '../../domain/portions.ts';
import { jsonPieces, LIGHT } from '../../domain/long-json.ts';
import type { Pause } from '../../domain/loop/slices.ts';
import type { ReplyShare } from './reply-budget.ts';

/** Room for the pieces of a reply, and time to make them. */
export interface Room extends Pick<ReplyShare, 'hold'> {
  readonly pause: Pause;
}

/**
 * A part of a reply's body that is rendered while it is sent, as JSON in pieces. `T` is what it stands for. It may be the body, or
 * a field at any depth of objects.
 */
export class Streamed<T> {
  declare readonly standsFor: T;
  readonly pieces: (room: Room) => AsyncIterable<string>;

  constructor(pieces: (room: Room) => AsyncIterable<string>) {
    this.pieces = pieces;
  }
}

/** An object whose fields can be streamed. */
export type StreamableFields<T> = { readonly [Name in keyof T]: Streamable<T[Name]> };

/** A body or a part of one that can be streamed, or parts of it; the items of a list can't. */
export type Streamable<T> =
  | T
  | Streamed<T>
  | (T extends readonly unknown[] ? never : T extends object ? StreamableFields<T> : never);

/** What rows take while they are rendered, as a multiple of what they take when they are stored: parsed, rendered, and as JSON. */
const HELD_PER_STORED = 4;

/** A list whose rows are read and rendered while it is sent. */
export function streamedList<T, W>(portions: Portions<T>, render: (row: T) => Streamable<W>): Streamed<readonly W[]> {
  return new Streamed(async function* (room) {
    yield '[';
    let before = '';
    for await (const row of heldRows(portions, room)) {
      yield before;
      yield* piecesOf(render(row), room);
      before = ',';
    }
    yield ']';
  });
}

/** What is read at once, when there is room for it. */
export function streamedWhole<T, W>({ bytes, read }: Portion<T>, render: (whole: T) => W): Streamed<W> {
  return new Streamed(async function* (room) {
    await room.hold(bytes * HELD_PER_STORED);
    const [whole] = await read();
    yield* jsonPieces(render(whole!));
  });
}

/** What was rendered before. */
export function renderedJson<T>(text: string): Streamed<T> {
  return new Streamed(async function* () {
    for (let at = 0; at < text.length; at += LIGHT) yield text.slice(at, at + LIGHT);
  });
}

/** The rows of all portions, each portion read when there is room for it. */
export async function* heldRows<T>(portions: Portions<T>, room: Room): AsyncIterable<T> {
  for await (const { bytes, read } of portions) {
    await room.hold(bytes * HELD_PER_STORED);
    const rows = await read();
    await room.pause();
    yield* rows;
  }
}

/** The JSON of a body in which there may be streamed parts. */
export async function* piecesOf(value: unknown, room: Room): AsyncIterable<string> {
  if (value instanceof Streamed) yield* value.pieces(room);
  else if (!hasStreamed(value)) yield* jsonPieces(value);
  else {
    let before = '{';
    for (const [name, field] of Object.entries(value as object)) {
      if (field === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* piecesOf(field, room);
      before = ',';
    }
    yield '}';
  }
}

/** Whether a part of a body is streamed. Lists contain none. */
export function hasStreamed(value: unknown): boolean {
  if (value instanceof Streamed) return true;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  return Object.values(value).some(hasStreamed);
}
