import { expect, test } from 'vitest';
import { faultsOf } from '../../scripts/rules/faults.ts';
import { renderPage } from '../../scripts/rules/page.ts';
import { proofsIn } from '../../scripts/rules/proofs.ts';
import { parseRules } from '../../scripts/rules/rules.ts';

const proof = (...tags: readonly string[]) => ({ file: 'a.test.ts', title: 'it holds', tags });

test('tests are found with their tags, also those of tables; those without tags, and those that never run, are not', () => {
  // Written so that this file itself has no such tests.
  const source = `
    test('none', () => {});
    test('one', { TAGS: ['§1-a'] }, () => {});
    test.concurrent("it's two", { timeout: 5, TAGS: ['§1-a', 'B2'] }, () => {});
    test('three\\u2019s \\'quoted\\' and so long', {
      TAGS: ['§1-a'],
    }, async () => {});
    test.each([[1], ['row']])('%s four', { TAGS: ['§1-a'] }, () => {});
    test.skipIf(!able)(
      'five',
      { TAGS: ['§1-a'] },
      async () => {},
    );
    test.skip('six', { TAGS: ['§1-a'] }, () => {});
    test.todo('seven');
    publish('eight', { TAGS: ['§1-a'] }, 'nine');
  `;
  expect(proofsIn('a.test.ts', source.replaceAll('TAGS', 'tags'))).toEqual([
    { file: 'a.test.ts', title: 'one', tags: ['§1-a'] },
    { file: 'a.test.ts', title: "it's two", tags: ['§1-a', 'B2'] },
    { file: 'a.test.ts', title: "three’s 'quoted' and so long", tags: ['§1-a'] },
    { file: 'a.test.ts', title: '%s four', tags: ['§1-a'] },
    { file: 'a.test.ts', title: 'five', tags: ['§1-a'] },
  ]);
});

test('the text has sections with rules, and the reason of one that is open', () => {
  const text =
    '# Rules\n\nWords.\n\n## §1 One\n\n- **§1-a** It holds.\n  - open: nobody looked\n- **§1-b** So does it.\n';
  expect(parseRules(text)).toEqual([
    {
      heading: '§1 One',
      rules: [
        { id: '§1-a', text: 'It holds.', open: 'nobody looked' },
        { id: '§1-b', text: 'So does it.' },
      ],
    },
  ]);
  expect(() => parseRules(`${text}§1-c It holds.\n`)).toThrow('neither a heading nor a rule: §1-c It holds.');
});

test('faults are rules without proof or reason, out of place or there twice, empty sections, and tags of no rule', () => {
  const rule = (id: string) => ({ id, text: 'It holds.' });
  const sections = [
    { heading: '§1 One', rules: [rule('§1-a'), rule('§1-b'), { ...rule('§1-c'), open: 'nobody looked' }] },
    { heading: '§1.1 More', rules: [] },
    { heading: 'B People', rules: [rule('B2'), rule('B2'), rule('§1-d'), rule('C1')] },
  ];
  expect(faultsOf(sections, [proof('§1-a', 'B2'), proof('§1-d', 'C1', '§9')])).toEqual([
    '§1.1 More: has no rule',
    '§1-b: no test has it as a tag, and nothing says why',
    '§1-d: is below the heading B People',
    'C1: is below the heading B People',
    'B2: is listed more than once',
    'test/a.test.ts: "it holds" has the tag §9 of no rule',
  ]);
  expect(faultsOf([{ heading: '§1 One', rules: [rule('§1')] }], [proof('§1')])).toEqual([]);
});

test('a rule without a test is listed prominently at the top', () => {
  const rules = [
    { id: '§1-a', text: 'It holds.' },
    { id: '§1-b', text: 'It may hold.', open: 'nobody looked' },
    { id: '§1-c', text: 'It holds by half.', open: 'the other half' },
  ];
  const page = renderPage([{ heading: '§1 One', rules }], [proof('§1-a', '§1-c')]);
  expect(page).toContain('3 rules: 1 proven, 1 in part, 1 not proven.');
  expect(page).toContain('- **§1-a** It holds.\n  - [a.test.ts](../test/a.test.ts): `it holds`\n');
  const top = page.slice(0, page.indexOf('## §1'));
  expect(top).toContain('- §1-b: **NOT PROVEN** nobody looked\n- §1-c: **proven in part** the other half');
  expect(top).not.toContain('§1-a');
});
