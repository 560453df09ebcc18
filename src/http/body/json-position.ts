// Where a scanner of JSON text is: the path of the value that it reads, for refusals that name it (A4).
import { MAX_JSON_DEPTH } from '../../domain/json.ts';

/** What is kept of each name, in bytes. */
const NAME_BYTES = 64;
/** Longer paths are cut. */
const MAX_PATH = 256;
/** Names that stand in a path as they are. */
const PLAIN_NAME = /^[\w$-]+$/;

export interface JsonPosition {
  /** An object or an array begins. It is in the one before it, and none is more than `MAX_JSON_DEPTH` deep. */
  open(isObject: boolean): void;
  comma(): void;
  colon(): void;
  close(): void;
  /** Whether the next string is a name. */
  awaitsName(): boolean;
  /** A part of that string. */
  takeName(bytes: Uint8Array, from: number, to: number): void;
  /** The path of the value that is being read, such as `messages[0].content`; `body` for the whole. */
  path(): string;
  /** That of the object or the array around it. */
  pathAround(): string;
}

/** Makes the place at the beginning of a text. It takes the same memory for any text. */
export function makeJsonPosition(): JsonPosition {
  const levels = MAX_JSON_DEPTH + 1;
  const isObject = new Uint8Array(levels);
  const indexes = new Uint32Array(levels);
  const names = Buffer.alloc(levels * NAME_BYTES);
  const lengths = new Uint32Array(levels);
  let depth = 0;
  let awaitsName = false;

  function step(level: number): string {
    if (isObject[level] === 0) return `[${indexes[level]!}]`;
    const length = lengths[level]!;
    if (length === 0) return '';
    const start = level * NAME_BYTES;
    const text = names.toString('utf8', start, start + Math.min(length, NAME_BYTES));
    const name = length > NAME_BYTES ? `${text}…` : text;
    return PLAIN_NAME.test(text) ? `.${name}` : `[${JSON.stringify(name)}]`;
  }

  function pathTo(last: number): string {
    let path = '';
    for (let level = 1; level <= last && path.length <= MAX_PATH; level += 1) path += step(level);
    const cut = path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
    return cut === '' ? 'body' : cut.replace(/^\./, '');
  }

  return {
    open: (opensObject) => {
      depth += 1;
      isObject[depth] = Number(opensObject);
      indexes[depth] = 0;
      lengths[depth] = 0;
      awaitsName = opensObject;
    },
    comma: () => {
      indexes[depth]! += 1;
      awaitsName = isObject[depth] === 1;
      if (awaitsName) lengths[depth] = 0;
    },
    colon: () => {
      awaitsName = false;
    },
    close: () => {
      depth = Math.max(0, depth - 1);
      awaitsName = false;
    },
    awaitsName: () => awaitsName,
    takeName: (bytes, from, to) => {
      const length = lengths[depth]!;
      const end = Math.min(to, from + Math.max(0, NAME_BYTES - length));
      // Most are a few bytes long: a copy through a view would cost more.
      for (let at = from, put = depth * NAME_BYTES + length; at < end; at += 1, put += 1) names[put] = bytes[at]!;
      lengths[depth] = length + (to - from);
    },
    path: () => pathTo(depth),
    pathAround: () => pathTo(depth - 1),
  };
}
