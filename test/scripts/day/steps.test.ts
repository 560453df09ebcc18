// The day of an administrator types what the documents give, and no flag that they don't name.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const text = (file: string) => readFileSync(file, 'utf8');
/** CLI.md names every flag there is. */
const pages = new Map(
  ['README.md', ...globSync('docs/*.md')].map((file) => [file, text(file).replaceAll('bin/errand', 'errand')]),
);
const PROGRAMS: Readonly<Record<string, number>> = {
  errand: 2,
  'apt-get': 1,
  'apt-mark': 1,
  systemctl: 1,
  'update-ca-certificates': 0,
  tar: 0,
};

/** Who runs it, and its variables. That every command takes --data-dir is on OPERATING. */
const BEFORE = /^(?:runuser -u \w+ -- |[A-Z_]+=\S+ )+/;

interface Typed {
  readonly line: string;
  /** The program and what it is told to do, as `errand users import`. */
  readonly words: string;
  readonly flags: readonly string[];
}

/** Commands of the programs above that a step types. */
function typedIn(file: string): readonly Typed[] {
  const lines = [...text(file).matchAll(/^(?:types|refused|answers) (['"])([^]*?)\1\n/gm)].map(([, , line]) => line!);
  return lines.flatMap((line) =>
    line.split(/&&|\||;/).flatMap((part) => {
      const words = part.trim().replace(BEFORE, '').replace(' --data-dir /home/tester/data', '').split(/\s+/);
      const verbs = PROGRAMS[words[0]!];
      if (verbs === undefined) return [];
      const isVerb = (word: string) => /^[a-z-]+$/.test(word) && !word.startsWith('-');
      const named = words.slice(1).filter((word) => !word.startsWith('-'));
      const count = named.slice(0, verbs).findIndex((word) => !isVerb(word));
      const told = named.slice(0, count === -1 ? verbs : count);
      return [{ line, words: [words[0], ...told].join(' '), flags: words.filter((word) => /^--?[a-z]/i.test(word)) }];
    }),
  );
}

const typed = globSync('scripts/day/steps/*/*.sh').flatMap(typedIn);

const names = (page: string, { words, flags }: Typed) =>
  page.includes(words) && flags.every((flag) => page.includes(flag));

test('each command of the day, with all its flags, is on one page of the documents', () => {
  expect(typed.length).toBeGreaterThan(60);
  const own = [...pages].filter(([file]) => file !== 'docs/CLI.md').map(([, page]) => page);
  const missing = typed.filter((one) => {
    const among = one.flags.length > 0 ? own : [...pages.values()];
    return !among.some((page) => names(page, one));
  });
  expect(missing.map(({ line }) => line)).toEqual([]);
});
