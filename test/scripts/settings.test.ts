import { expect, test } from 'vitest';
import { renderFile } from '../../scripts/settings/file.ts';
import { renderPage } from '../../scripts/settings/page.ts';
import { SETTING_NAMES } from '../../src/config/setting-texts.ts';
import { OPTIONS, SECTIONS } from '../../src/config/options.ts';

/** The words of all comments, on one line. */
const commentsOf = (yaml: string) => [...yaml.matchAll(/^ *# (.*)$/gm)].map(([, words]) => words).join(' ');

test('the commented file has the help of every setting and section, on lines that fit', () => {
  const file = renderFile();
  const comments = commentsOf(file);
  for (const name of SETTING_NAMES) expect(comments).toContain(OPTIONS[name].about);
  for (const about of Object.values(SECTIONS)) expect(comments).toContain(about);
  expect(file.split('\n').filter((line) => line.length > 120)).toEqual([]);
});

test('a setting follows its help, and an inner section follows the settings of the outer one', () => {
  const file = renderFile();
  expect(file).toContain(
    '\n# Maximum size of one image or attachment, in megabytes. Larger ones get 413.\n#max_upload_size_mb: 20\n\n',
  );
  expect(file).toMatch(
    /\n#sso:\n {2}# Name [^\n]+\n# {2}provider: ""\n(.+\n)+ {2}# What [^\n]+\n# {2}defaults:\n {4}# [^\n]+\n# {4}team: ""\n/,
  );
});

test('the page has a row for every setting, with its default, its values and its help', () => {
  const page = renderPage();
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows).toHaveLength(SETTING_NAMES.length);
  expect(page).toContain(
    '\n## `workspace`\n\n' +
      "The agents' files: one directory for each session.\n\n" +
      '| Setting | Default | Values | What it does |\n|---|---|---|---|\n' +
      '| `quota_mb` | `2048` | a whole number of megabytes from 1 to 16777216 | Megabytes of one workspace.',
  );
});
