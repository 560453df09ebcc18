import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { OFFICE_SCENES } from '../../scripts/pictures/office.ts';
import { PAGE_SCENES } from '../../scripts/pictures/pages.ts';
import { SCENES } from '../../scripts/pictures/scenes.ts';
import { svgOf } from '../../scripts/pictures/svg.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const kept = readdirSync(join(ROOT, 'docs/pictures'));

test('every picture that a document shows exists, and every one that exists is shown and has its scene', () => {
  const documents = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)];
  const shown = documents
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      Array.from(read(file).matchAll(/!\[[^\]]*\]\((?:docs\/)?pictures\/([^)]+)\)/g), ([, name]) => name),
    );
  expect(new Set(shown)).toEqual(new Set(kept));
  const pages = [...OFFICE_SCENES, ...PAGE_SCENES];
  const scenes = [...SCENES.map(({ name }) => `${name}.svg`), ...pages.map(({ name }) => `${name}.png`)];
  expect(new Set(scenes)).toEqual(new Set(kept));
});

test.each(kept.filter((name) => name.endsWith('.png')))('%s is small', (name) => {
  expect(statSync(join(ROOT, 'docs/pictures', name)).size).toBeLessThan(120_000);
});

test.each(kept.filter((name) => name.endsWith('.svg')))(
  '%s is small, and says nothing of the machine that it was taken on',
  (name) => {
    const svg = read(`docs/pictures/${name}`);
    expect(svg.length).toBeLessThan(40_000);
    expect(svg).not.toMatch(/\/(home|root|tmp|work|Users)\b|127\.0\.0\.1/);
  },
);

test('a picture has a piece at the column of each word of the table, with its colour for either background', () => {
  const svg = svgOf({
    title: 'a < b',
    columns: 20,
    lines: ['\u001b[1mTeam\u001b[0m   \u001b[31mill 字\u001b[39m  x&y', '\u001b[48;2;40;48;70m  ━━──\u001b[49m'],
  });
  expect(svg).toContain('<title>a &lt; b</title>');
  expect(svg).toContain('<text x="12" y="25" textLength="33.6" class="b">Team</text>');
  expect(svg).toMatch(/<text x="70.8" y="25" textLength="50.4" class="c0">ill 字<\/text>/);
  expect(svg).toMatch(/\.c0\{fill:#f7768e\}.*prefers-color-scheme:light.*\.c0\{fill:#c0223b\}/s);
  expect(svg).toContain('>x&amp;y</text>');
  expect(svg).toMatch(/<rect x="12" y="30" width="16.8" height="18" class="c1"\/>/);
  expect(svg).toContain('lengthAdjust="spacingAndGlyphs">━━──</text>');
});
