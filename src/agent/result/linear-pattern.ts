// Matches regular expressions in time proportional to text times pattern, for every pattern: a set of states, no backtracking.

/** A compiled pattern: the `pattern` of a schema, found anywhere in a text. */
export interface LinearPattern {
  test(text: string): boolean;
  /** A shortest text that the states allow; undefined when they allow none. */
  example(): string | undefined;
  toString(): string;
}

const MAX_STATES = 2_000;
const MAX_GROUP_DEPTH = 100;

type AtomTest = (character: string) => boolean;
type Assertion = '^' | '$' | 'b' | 'B';

type Piece =
  | { readonly kind: 'atom'; readonly test: AtomTest; readonly sample?: string }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly Piece[] }
  | { readonly kind: 'either'; readonly branches: readonly Piece[] }
  | { readonly kind: 'repeat'; readonly piece: Piece; readonly min: number; readonly max: number };

type State =
  | { readonly kind: 'atom'; readonly test: AtomTest; readonly sample?: string; readonly next: number }
  | { readonly kind: 'assertion'; readonly assertion: Assertion; readonly next: number }
  | { readonly kind: 'fork'; readonly next: readonly number[] }
  | { readonly kind: 'match' };

/**
 * Compiles an ECMAScript pattern, in Unicode mode when it is valid there. Throws an `Error` whose message says what is wrong:
 * not a regular expression, a back-reference, a look-around, a modifier, or too many states (C14).
 */
export function compilePattern(source: string): LinearPattern {
  const flags = flagsFor(source);
  const states = assemble(parse(source, flags));
  return {
    test: (text) => search(states, flags === 'u' ? Array.from(text) : text.split('')),
    example: () => shortest(states),
    toString: () => `/${source}/`,
  };
}

/** Whether `compilePattern` takes it. */
export function isLinearPattern(source: string): boolean {
  try {
    compilePattern(source);
    return true;
  } catch {
    return false;
  }
}

function flagsFor(source: string): 'u' | '' {
  try {
    void new RegExp(source, 'u');
    return 'u';
  } catch (error) {
    try {
      void new RegExp(source);
      return '';
    } catch {
      throw new Error('is not a regular expression', { cause: error });
    }
  }
}

const ASSERTION = /\^|\$|\\[bB]/y;
const GROUP = /\((?:\?:|\?<[^=!>][^>]*>|(?!\?))/y;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y;
const BACK_REFERENCE = /\\[1-9k]/y;
const CLASS = /\[(?:\\[^]|[^\]\\])*\]/y;
const ESCAPE = {
  u: /\\(?:[pP]\{[^}]*\}|u\{[\da-f]+\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[^])/iuy,
  '': /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[^])/y,
};

/** Parses a pattern that is known to be valid. */
function parse(source: string, flags: 'u' | ''): Piece {
  let at = 0;
  let depth = 0;
  const take = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at;
    const found = expression.exec(source);
    if (found !== null) at = expression.lastIndex;
    return found;
  };

  function either(): Piece {
    const branches = [sequence()];
    while (source[at] === '|') {
      at += 1;
      branches.push(sequence());
    }
    return branches.length === 1 ? branches[0]! : { kind: 'either', branches };
  }

  function sequence(): Piece {
    const parts: Piece[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(quantified(single()));
    return { kind: 'sequence', parts };
  }

  function single(): Piece {
    const assertion = take(ASSERTION);
    if (assertion !== null) return { kind: 'assertion', assertion: assertion[0].at(-1) as Assertion };
    if (source[at] === '(') return group();
    if (take(BACK_REFERENCE) !== null) throw new Error('must not have a back-reference');
    const found = take(CLASS) ?? take(ESCAPE[flags]);
    if (found !== null) return { kind: 'atom', test: classTest(found[0], flags) };
    const character = flags === 'u' ? String.fromCodePoint(source.codePointAt(at)!) : source[at]!;
    at += character.length;
    if (character === '.') return { kind: 'atom', test: classTest('.', flags) };
    return { kind: 'atom', test: (other) => other === character, sample: character };
  }

  function group(): Piece {
    if (take(GROUP) === null) throw new Error('must not have a look-around or a modifier');
    depth += 1;
    if (depth > MAX_GROUP_DEPTH) throw new Error(`must not nest groups deeper than ${MAX_GROUP_DEPTH} levels`);
    const piece = either();
    depth -= 1;
    at += 1;
    return piece;
  }

  function quantified(piece: Piece): Piece {
    const found = take(QUANTIFIER);
    if (found === null) return piece;
    const [word, least, comma, most] = found;
    if (least === undefined) return { kind: 'repeat', piece, ...SIGNS[word[0] as keyof typeof SIGNS] };
    const min = Number(least);
    const max = comma === undefined ? min : most === '' || most === undefined ? Infinity : Number(most);
    return { kind: 'repeat', piece, min, max };
  }

  return either();
}

const SIGNS = { '*': { min: 0, max: Infinity }, '+': { min: 1, max: Infinity }, '?': { min: 0, max: 1 } } as const;

/** Tests one character with the engine's own reading of a class or an escape; a single character can't backtrack. */
function classTest(source: string, flags: 'u' | ''): AtomTest {
  const expression = new RegExp(`^${source}$`, flags);
  const known = new Map<string, boolean>();
  return (character) => {
    let fits = known.get(character);
    if (fits === undefined) {
      fits = expression.test(character);
      if (known.size < 1_000) known.set(character, fits);
    }
    return fits;
  };
}

/** Converts the pieces to states, from the last to the first; state 0 is the match, the last one the start. */
function assemble(root: Piece): readonly State[] {
  const states: State[] = [{ kind: 'match' }];
  let work = 0;
  const spend = () => {
    work += 1;
    if (work > MAX_STATES) throw new Error(`must need at most ${MAX_STATES} states`);
  };
  const add = (state: State): number => states.push(state) - 1;

  function build(piece: Piece, next: number): number {
    spend();
    if (piece.kind === 'atom' || piece.kind === 'assertion') return add({ ...piece, next });
    if (piece.kind === 'sequence') return piece.parts.reduceRight((after, part) => build(part, after), next);
    if (piece.kind === 'either')
      return add({ kind: 'fork', next: piece.branches.map((branch) => build(branch, next)) });
    return repeat(piece, next);
  }

  function repeat({ piece, min, max }: Extract<Piece, { kind: 'repeat' }>, next: number): number {
    let start = next;
    if (max === Infinity) {
      const loop = add({ kind: 'match' });
      states[loop] = { kind: 'fork', next: [build(piece, loop), next] };
      start = loop;
    } else {
      for (let i = min; i < max; i += 1) start = add({ kind: 'fork', next: [build(piece, start), next] });
    }
    for (let i = 0; i < min; i += 1) start = build(piece, start);
    return start;
  }

  const start = build(root, 0);
  add({ kind: 'fork', next: [start] });
  return states;
}

const isWord = (character: string | undefined) => character !== undefined && /^\w$/.test(character);

const HOLDS: Readonly<Record<Assertion, (before: string | undefined, after: string | undefined) => boolean>> = {
  '^': (before) => before === undefined,
  $: (_before, after) => after === undefined,
  b: (before, after) => isWord(before) !== isWord(after),
  B: (before, after) => isWord(before) === isWord(after),
};

function search(states: readonly State[], characters: readonly string[]): boolean {
  const marks = new Int32Array(states.length).fill(-1);
  let waiting: number[] = [];
  for (let at = 0; at <= characters.length; at += 1) {
    const [before, after] = [characters[at - 1], characters[at]];
    // A match may begin anywhere, so the start is always among the states.
    const reached = [...waiting, states.length - 1];
    waiting = [];
    for (let index = reached.pop(); index !== undefined; index = reached.pop()) {
      if (marks[index] === at) continue;
      marks[index] = at;
      const state = states[index]!;
      if (state.kind === 'match') return true;
      if (state.kind === 'fork') reached.push(...state.next);
      else if (state.kind === 'assertion') {
        if (HOLDS[state.assertion](before, after)) reached.push(state.next);
      } else if (after !== undefined && state.test(after)) waiting.push(state.next);
    }
  }
  return false;
}

const SAMPLES = Array.from({ length: 0x3000 }, (_, i) => String.fromCodePoint((i + 0x61) % 0x3000));

/** A breadth-first walk from the start to the match. Word boundaries are assumed to hold. */
function shortest(states: readonly State[]): string | undefined {
  const seen = new Set<string>();
  let texts: { index: number; text: string; ended: boolean }[] = [{ index: states.length - 1, text: '', ended: false }];
  while (texts.length > 0) {
    const longer: typeof texts = [];
    for (let here = texts.pop(); here !== undefined; here = texts.pop()) {
      const { index, text, ended } = here;
      const key = `${index} ${text === ''} ${ended}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const state = states[index]!;
      if (state.kind === 'match') return text;
      if (state.kind === 'fork') texts.push(...state.next.toReversed().map((next) => ({ index: next, text, ended })));
      else if (state.kind === 'assertion') {
        if (state.assertion !== '^' || text === '')
          texts.push({ index: state.next, text, ended: ended || state.assertion === '$' });
      } else if (!ended) {
        const character = state.sample ?? SAMPLES.find(state.test);
        if (character !== undefined) longer.push({ index: state.next, text: text + character, ended });
      }
    }
    texts = longer;
  }
  return undefined;
}
