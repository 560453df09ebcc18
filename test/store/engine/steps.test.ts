// A step of a verb that isn't yielded does nothing, and neither the compiler nor SQLite would notice.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const STORE = new URL('../../../src/store', import.meta.url).pathname;
/** Text of a function's head up to the step that it answers. */
const STEP = /\bfunction\*? (\w+)\((?:(?!\b(?:function|return)\b).)*?\): Step</gs;
const STATEMENT = String.raw`tx\.(?:get|all|run|count|insert)\b`;

/** Every file with verbs: copies of rows have none. */
function sourcesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^(engine|copies\/rows)\//.test(name))
    .map((name) => readFileSync(join(directory, name), 'utf8'));
}

/** Functions that are steps, by name: generators, and those that hand on the step of another. */
function stepsIn(sources: readonly string[]): string[] {
  return sources.flatMap((source) => [...source.matchAll(STEP)].map((match) => match[1]!));
}

/** What is before a step that is yielded, passed on, listed for who yields all of a list, or the name of a method. */
const PASSED_ON = /(yield\*|=>|return|function\*?|\[(?:[^[\]]*,)?|\n\s*\*)\s*$/;

/** Calls of a step that is neither yielded nor passed on, with their context. */
function forgotten(source: string, steps: readonly string[]): string[] {
  const calls = new RegExp(String.raw`(?<![.\w])(?:(?:${steps.join('|')})\(|${STATEMENT})`, 'g');
  return [...source.matchAll(calls)]
    .filter(({ index }) => !PASSED_ON.test(source.slice(Math.max(0, index - 200), index)))
    .map(({ index }) => source.slice(Math.max(0, index - 40), index + 40));
}

test('every step of a verb is yielded, or handed on to who yields it', () => {
  const sources = sourcesOf(STORE);
  const steps = stepsIn(sources);
  expect(steps.length).toBeGreaterThan(60);
  expect(steps).toContain('holds');
  expect(sources.flatMap((source) => forgotten(source, steps))).toEqual([]);
  expect(forgotten('  const found = holds(tx, fence);\n  tx.run(SQL);\n  yield* tx.run(SQL);', steps)).toHaveLength(2);
});

/** Verbs that are made by the call of a function, with their context; verbs with a note are rare and exempt. */
function madeByCalls(source: string): string[] {
  const made = /(?:=>|await)\s*(?:write|read)\((?!\s*note\b)/g;
  return [...source.matchAll(made)].map(({ index }) => source.slice(Math.max(0, index - 40), index + 40));
}

test('a verb is made once, not by each call: the function that it is made of leaves more garbage than a query', () => {
  expect(sourcesOf(STORE).flatMap(madeByCalls)).toEqual([]);
  expect(madeByCalls('find: (id: string) => read(function* (tx) {')).toHaveLength(1);
  expect(madeByCalls('const rows = await write(function* (tx) {')).toHaveLength(1);
});
