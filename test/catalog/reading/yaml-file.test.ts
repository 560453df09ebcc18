import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { quietCpuMsOf } from '../../support/time/machine-speed.ts';
import { formatProblem } from '../../../src/catalog/reading/problem.ts';
import { choice, dictionary, flag, integer, orNull, section, text } from '../../../src/catalog/reading/schema.ts';
import { MAX_YAML_BYTES, readYamlFile } from '../../../src/catalog/reading/yaml-file.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const SCHEMA = section({
  port: integer(1, 65_535),
  open: flag(),
  level: choice(['low', 'high']),
  letters: text('letters only', (value) => /^[a-z]+$/.test(value)),
  limit: orNull(integer(1, 9, 'things')),
  inner: section({ depth: integer(0, 9) }),
  things: dictionary(section({ size: integer(1, 9) }, ['size'])),
});

const read = (content: string | Buffer) => readYamlFile(temporaryDirectory({ 'x.yaml': content }), 'x.yaml', SCHEMA);
const problemsOf = (content: string | Buffer) => read(content).problems.map(formatProblem);

test('a valid file is read without coercion', () => {
  const file = read('port: 80\nopen: true\nlevel: high\nletters: off\nlimit: null\nthings: { a: { size: 2 } }\n');
  expect(file.problems).toEqual([]);
  expect(file.value).toEqual({
    port: 80,
    open: true,
    level: 'high',
    letters: 'off',
    limit: null,
    things: { a: { size: 2 } },
  });
});

test.each([
  ['a missing file', undefined],
  ['an empty file', ''],
  ['a file of comments', '# port: 1\n'],
])('%s is an empty map', (_, content) => {
  const directory = temporaryDirectory(content === undefined ? {} : { 'x.yaml': content });
  expect(readYamlFile(directory, 'x.yaml', SCHEMA)).toMatchObject({ value: {}, problems: [] });
});

test('a section whose keys are all commented out is an empty one', () => {
  expect(problemsOf('inner:\n#  depth: 1\nthings:\n')).toEqual([]);
});

test('all problems are reported at once, each at its place and in the order of the file', () => {
  const content = [
    'port: "80"',
    'opne: true',
    'level: middling',
    'inner:',
    '  depth: 12.5',
    'letters: a1',
    'limit: 10',
    'things:',
    '  first: { size: 0 }',
    '  second: {}',
    '  -bad: { size: 1 }',
    '  third: null',
  ].join('\n');
  expect(problemsOf(content)).toEqual([
    'x.yaml:1:7 port: must be a whole number from 1 to 65535, not text',
    'x.yaml:2:1 opne: is not a known key (did you mean "open"?)',
    'x.yaml:3:8 level: must be one of low, high',
    'x.yaml:5:10 inner.depth: must be a whole number from 0 to 9',
    'x.yaml:6:10 letters: must be letters only',
    'x.yaml:7:8 limit: must be a whole number of things from 1 to 9, or null',
    'x.yaml:9:18 things.first.size: must be a whole number from 1 to 9',
    'x.yaml:10:3 things.second.size: is missing',
    'x.yaml:11:3 things.-bad: must be a name of up to 256 letters, digits and . _ : / @ + -, ' +
      'beginning with a letter or digit',
    'x.yaml:12:10 things.third: must be a map, not null',
  ]);
});

test.each([
  ['a duplicate key', 'port: 1\nopen: true\nport: 2\n', 'x.yaml:3:1 port: is a duplicate key'],
  ['a nested duplicate key', 'inner:\n  depth: 1\n  depth: 2\n', 'x.yaml:3:3 depth: is a duplicate key'],
  ['a tab as indentation', 'inner:\n\tdepth: 1\n', 'x.yaml:2:1 Tabs are not allowed as indentation'],
  ['an unresolved alias', 'port: *none\n', 'x.yaml:1:7 *none: refers to an anchor that does not exist'],
  ['a tag', 'port: !secret 1\n', 'x.yaml:1:7 Unresolved tag: !secret'],
  ['a map as a key', '? { a: 1 }\n: 2\n', 'x.yaml:1:3 a key must be plain text'],
  ['a list at the top', '- port\n', 'x.yaml:1:1 must be a map, not a list'],
  ['an infinite number', 'port: .inf\n', 'x.yaml:1:7 port: must be a whole number from 1 to 65535'],
  ['the prototype as a key', '__proto__: { port: 1 }\n', 'x.yaml:1:1 __proto__: is not a known key'],
  ['a merge key, which is no part of YAML 1.2', '<<: { port: 1 }\n', 'x.yaml:1:1 <<: is not a known key'],
  ['a key with nothing behind it', 'port:\n', 'x.yaml:1:1 port: must be a whole number from 1 to 65535, not null'],
])('%s is reported at its place', (_, content, problem) => {
  expect(problemsOf(content)).toEqual([problem]);
});

test('a syntax error is reported with line and column', () => {
  expect(problemsOf('port: 1\nlevel: "high\n')).toEqual(['x.yaml:3:1 Missing closing "quote']);
});

test('of many syntax errors, only the first is reported, quickly', () => {
  const content = Array.from({ length: 50_000 }, (_, index) => `k${index}: "1" "2"`).join('\n');
  expect(problemsOf(content)).toEqual([expect.stringMatching(/^x\.yaml:1:\d+ /)]);
});

test.each([
  ['listen: "127.0.0.1\nworkers: { threads: 4 }\n'],
  ['port: 1\n level: 3\ninner: { depth: 4\nletters: { a: b }\n'],
  ['things:\n  - cidr: 10.0.0.0/8\n    ports: [80, ]]\n    for: [mcp]\n'],
])('one mistake in the syntax is one complaint, whatever it does to the rest: %j', (content) => {
  expect(problemsOf(content)).toHaveLength(1);
});

test('an alias is followed, and a fault behind it is reported where it is written', () => {
  expect(problemsOf('inner: &i { depth: 1 }\nthings: { a: { size: 1 } }\n')).toEqual([]);
  expect(problemsOf('things:\n  a: &a { size: 0 }\n  b: *a\n')).toEqual([
    'x.yaml:2:17 things.a.size: must be a whole number from 1 to 9',
    'x.yaml:2:17 things.b.size: must be a whole number from 1 to 9',
  ]);
});

test('aliases that multiply into a flood are refused', () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const inner = Array.from({ length: 9 }, () => `*l${level}`).join(', ');
    return `l${level + 1}: &l${level + 1} [${inner}]`;
  });
  expect(problemsOf(`l0: &l0 [x]\n${levels.join('\n')}\n`)).toEqual([
    'x.yaml:1:1 Excessive alias count indicates a resource exhaustion attack',
  ]);
});

test('more than a hundred aliases are refused', () => {
  const content = `a: &a 1\nb: [${Array.from({ length: 101 }, () => '*a').join(', ')}]\n`;
  expect(problemsOf(content)).toEqual([expect.stringContaining('has more than 100 aliases')]);
});

test('nesting too deep for the parser is one problem, not a crash', () => {
  const problems = problemsOf('['.repeat(200_000));
  expect(problems).toEqual([expect.stringContaining('is nested too deeply')]);
});

test.each([
  ['unknown keys', (index: number) => `k${index}: 1`],
  ['keys that stand twice', (index: number) => `k${index % 2}: 1`],
])('as many %s as fit into a file are reported quickly, and not all of them', (_, line) => {
  const content = Array.from({ length: 50_000 }, (_, index) => line(index)).join('\n');
  expect(content.length).toBeLessThan(MAX_YAML_BYTES);
  let problems: string[] = [];
  expect(quietCpuMsOf(() => (problems = problemsOf(content)))).toBeLessThan(8_000);
  expect(problems).toHaveLength(51);
  expect(problems.at(-1)).toMatch(/and \d+ more problems$/);
});

test.each<[string, (directory: string) => void, string]>([
  ['a directory', (directory) => mkdirSync(path.join(directory, 'x.yaml')), 'is a directory, not a file'],
  ['a broken link', (directory) => symlinkSync('none', path.join(directory, 'x.yaml')), 'is a broken link'],
  ['a link to itself', (directory) => symlinkSync('x.yaml', path.join(directory, 'x.yaml')), 'a loop of links'],
  ['a FIFO', (directory) => execFileSync('mkfifo', [path.join(directory, 'x.yaml')]), 'is not a regular file'],
])('%s instead of the file is a problem, not the defaults', (_, make, why) => {
  const directory = temporaryDirectory();
  make(directory);
  const { problems } = readYamlFile(directory, 'x.yaml', SCHEMA);
  expect(problems.map(formatProblem)).toEqual([expect.stringContaining(why)]);
});

test('a file that is too large or not UTF-8 is a problem', () => {
  expect(problemsOf(Buffer.alloc(MAX_YAML_BYTES + 1, '#'))).toEqual(['x.yaml is larger than 1048576 bytes']);
  expect(problemsOf(Buffer.from([0x23, 0xff, 0xfe]))).toEqual(['x.yaml is not UTF-8 text']);
});

test('a problem found later is reported at the deepest existing part of its path', () => {
  const file = read('things:\n  a:\n    size: 1\n');
  expect(formatProblem(file.problemAt(['things', 'a', 'size'], 'is odd'))).toBe('x.yaml:3:11 things.a.size: is odd');
  expect(formatProblem(file.problemAt(['things', 'a', 'size'], 'is odd', 'key'))).toMatch(/^x\.yaml:3:5 /);
  expect(formatProblem(file.problemAt(['things', 'b', 'size'], 'is odd'))).toMatch(/^x\.yaml:1:1 /);
});
