// Finds the tests that carry tags in a test file's source, as they are written there.

/** A test that runs, and the rules that it proves. */
export interface Proof {
  /** Below `test/`. */
  readonly file: string;
  readonly title: string;
  readonly tags: readonly string[];
}

/** A call of `test`, or of what `test.each(…)` and the like return, with a title of one string and options. */
const TEST = /(?:\btest(?:\.concurrent)?|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1\s*,\s*\{([^{}]*)\}\s*,/g;
const TAGS = /\btags: \[([^\]]*)\]/;

/** The tests of a file that have tags, without those of `skip` and `todo`. */
export function proofsIn(file: string, source: string): readonly Proof[] {
  return [...source.matchAll(TEST)].flatMap(([, , title = '', options = '']) => {
    const tags = [...(TAGS.exec(options)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(([, tag = '']) => tag);
    return tags.length === 0 ? [] : [{ file, title: unescaped(title), tags }];
  });
}

function unescaped(title: string): string {
  return title
    .replace(/\\u\{?([0-9a-f]+)\}?/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/\\(.)/g, '$1');
}
