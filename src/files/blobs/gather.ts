// Bytes that come in pieces: whole when they are few.

export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** All of them when they are at most `most` bytes; otherwise pieces again. */
export async function gather(pieces: Pieces, most: number): Promise<Buffer | Pieces> {
  const rest = iteratorOf(pieces);
  const begun: Uint8Array[] = [];
  for (let size = 0; size <= most; ) {
    const next = await rest.next();
    if (next.done === true) return joined(begun, size);
    begun.push(next.value);
    size += next.value.length;
  }
  return (async function* () {
    try {
      yield* begun.splice(0);
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
    } finally {
      await rest.return?.();
    }
  })();
}

function iteratorOf(pieces: Pieces): AsyncIterator<Uint8Array> | Iterator<Uint8Array> {
  return Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
}

/** Not in the pool, of which the bytes would keep more than themselves. */
function joined(pieces: readonly Uint8Array[], size: number): Buffer {
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
