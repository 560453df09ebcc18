// Finds the titles of the tests in a test file's source, as they are written there.

/** A call of `test`, or of what `test.each(…)` and the like return, with a title of one string. */
const TEST = /(?:\btest(?:\.concurrent)?|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1\s*,/g;

/** Titles of all tests that run, without those of `skip` and `todo`. */
export function titlesIn(source: string): ReadonlySet<string> {
  return new Set([...source.matchAll(TEST)].map(([, , title = '']) => unescaped(title)));
}

function unescaped(title: string): string {
  return title
    .replace(/\\u\{?([0-9a-f]+)\}?/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/\\(.)/g, '$1');
}
