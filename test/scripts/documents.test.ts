// What the check of paths in documents finds.
import { expect, test } from 'vitest';
import { findMissingPaths } from '../../scripts/documents/missing-paths.ts';

const FILES = ['src/agent/loop/loop.ts', 'src/agent/tools/all-tools.ts', 'docs/GUIDE.md', 'docs/DECISIONS/0001-one.md'];

const missing = (text: string) => findMissingPaths('docs/DECISIONS/0001-one.md', text, FILES);

test('files and folders that exist are found, also without the beginning of their path', () => {
  expect(missing('`loop/loop.ts`, `all-tools.ts`, `agent/tools/`, `{loop,tools}/`, [guide](../GUIDE.md#part)')).toEqual(
    [],
  );
});

test('a file, a folder, a name in braces and the target of a link that do not exist are named with their line', () => {
  expect(missing('`loop.ts`\n`agent/gone.ts` `gone/` `{loop,gone}/`\n[guide](GONE.md)')).toEqual([
    { line: 2, path: 'agent/gone.ts' },
    { line: 2, path: 'gone/' },
    { line: 2, path: 'gone/' },
    { line: 3, path: 'docs/DECISIONS/GONE.md' },
  ]);
});

test('commands, flags, addresses, absolute paths and what the build makes are no paths of the repository', () => {
  expect(missing('`errand gc`, `--to -`, `/etc/errand`, `https://a.example/b`, `dist/main.js`, `<4>`')).toEqual([]);
});
