import { expect, test } from 'vitest';
import { renderPage } from '../../scripts/rules/page.ts';
import { titlesIn } from '../../scripts/rules/titles.ts';

test('titles are found as they are written, also those of tables; tests that never run have no title', () => {
  const source = `
    test('one', () => {});
    test.concurrent("it's two", () => {});
    test('three\\u2019s \\'quoted\\'', () => {});
    test.each([[1], ['row']])('%s four', () => {});
    test.skipIf(!able)(
      'five',
      async () => {},
    );
    test.skip('six', () => {});
    test.todo('seven');
    expect('eight', 'nine');
  `;
  expect([...titlesIn(source)]).toEqual(['one', "it's two", "three’s 'quoted'", '%s four', 'five']);
});

test('a rule without a test is listed prominently at the top', () => {
  const page = renderPage([
    { id: '§1 rule 1', text: 'It holds.', proofs: { 'a.test.ts': ['it holds'] } },
    { id: '§1 rule 2', text: 'It may hold.', proofs: {}, missing: 'nobody looked' },
    { id: '§2 rule 1', text: 'It holds by half.', proofs: { 'a.test.ts': ['it holds'] }, missing: 'the other half' },
  ]);
  expect(page).toContain('3 rules: 1 proven, 1 in part, 1 not yet.');
  const top = page.slice(0, page.indexOf('## §1'));
  expect(top).toContain(
    '- **NOT PROVEN YET** §1 rule 2: nobody looked\n- **proven in part** §2 rule 1: the other half',
  );
  expect(top).not.toContain('§1 rule 1');
});
