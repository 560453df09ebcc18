// Finds the lines of a text that match a pattern, within a time limit that holds for every pattern.
import { createContext, Script } from 'node:vm';
import { ErrandError } from '../../domain/errors.ts';

const MAX_PATTERN_LENGTH = 1000;

/** A matching line: its number from 1, and the text around the first match. */
interface MatchedLine {
  readonly line: number;
  readonly text: string;
}

/**
 * Returns the first `limit` matching lines of a text, searching for at most `timeoutMs`. `'slow'`: the pattern did not finish
 * in time.
 */
export type LineMatcher = (text: string, limit: number, timeoutMs: number) => readonly MatchedLine[] | 'slow';

export interface Pattern {
  readonly source: string;
  readonly regexp: boolean;
  readonly ignoreCase: boolean;
}

// Runs in its own context because only `vm` can stop a regular expression from outside; it returns plain numbers.
const SEARCH = new Script(`(() => {
  const found = [];
  let match;
  const expression = new RegExp(source, flags);
  while (found.length < limit && (match = expression.exec(text)) !== null) {
    const at = match.index;
    found.push(at);
    const feed = text.indexOf('\\n', at);
    if (feed === -1) break;
    expression.lastIndex = feed + 1;
  }
  return found.join(',');
})()`);

const quoted = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/**
 * Makes a matcher of a pattern. Throws bad_request for a regular expression that is malformed, too long, or has back-references
 * or look-around: those cannot be matched in linear time.
 */
export function makeLineMatcher(pattern: Pattern): LineMatcher {
  const source = pattern.regexp ? pattern.source : quoted(pattern.source);
  if (pattern.regexp) requirePlain(source);
  const flags = `gm${pattern.ignoreCase ? 'i' : ''}`;
  const context = createContext({ text: '', limit: 0, source, flags });
  return (text, limit, timeoutMs) => {
    Object.assign(context, { text, limit });
    try {
      const found = String(SEARCH.runInContext(context, { timeout: timeoutMs }));
      return found === '' ? [] : linesAt(text, found.split(',').map(Number));
    } catch (error) {
      if (timedOut(error)) return 'slow';
      throw new ErrandError('bad_request', `The pattern cannot be used: ${String(error)}.`);
    } finally {
      Object.assign(context, { text: '' });
    }
  };
}

/** The error comes from the other context, so it is not an instance of this context's `Error`. */
function timedOut(error: unknown): boolean {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  return hasCode && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

function requirePlain(source: string): void {
  const refuse = (words: string) => new ErrandError('bad_request', `The pattern ${words}.`);
  if (source.length > MAX_PATTERN_LENGTH) throw refuse(`is longer than ${MAX_PATTERN_LENGTH} characters`);
  try {
    void new RegExp(source);
  } catch (error) {
    throw refuse(`is not a regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
  // Escapes and classes are blanked first, so that `\\\\1` and `[(?=]` are not mistaken for the constructs that they resemble.
  const bare = source.replaceAll(/\\[^1-9k]/gs, '__').replaceAll(/\[(?:\\.|[^\]])*\]/gs, '__');
  if (/\\[1-9k]/.test(bare)) throw refuse('has a back-reference, which is not supported');
  if (/\(\?<?[=!]/.test(bare)) throw refuse('has a look-ahead or look-behind, which is not supported');
}

const SHOWN_BEFORE = 100;
const SHOWN_LENGTH = 300;

/** Converts offsets of matches, ascending and each on a line of its own, to lines. */
function linesAt(text: string, offsets: readonly number[]): MatchedLine[] {
  const found: MatchedLine[] = [];
  let line = 1;
  let counted = 0;
  for (const offset of offsets) {
    for (let feed = text.indexOf('\n', counted); feed !== -1 && feed < offset; feed = text.indexOf('\n', counted)) {
      line += 1;
      counted = feed + 1;
    }
    found.push({ line, text: around(text, counted, offset) });
  }
  return found;
}

/** The line that starts at `start`; for a long one, the part around the match. */
function around(text: string, start: number, offset: number): string {
  const feed = text.indexOf('\n', offset);
  const end = feed === -1 ? text.length : feed;
  const from = end - start <= SHOWN_LENGTH ? start : Math.max(start, offset - SHOWN_BEFORE);
  const to = Math.min(end, from + SHOWN_LENGTH);
  const shown = text.slice(from, to).replace(/\r$/, '').toWellFormed();
  return `${from > start ? '…' : ''}${shown}${to < end ? '…' : ''}`;
}
