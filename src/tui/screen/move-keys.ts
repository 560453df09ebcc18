// The keys that move through lines: the same on every screen.

/** What each of these keys does, made by `move`, which gets the number of lines to move by; `page` is that of a page. */
export function moveKeys<Where, Press>(
  move: (by: (where: Where) => number) => Press,
  page: (where: Where) => number,
): Readonly<Record<string, Press>> {
  return {
    up: move(() => -1),
    down: move(() => 1),
    'wheel-up': move(() => -3),
    'wheel-down': move(() => 3),
    'page-up': move((where) => -page(where)),
    'page-down': move(page),
    first: move(() => Number.MIN_SAFE_INTEGER),
    last: move(() => Number.MAX_SAFE_INTEGER),
  };
}
