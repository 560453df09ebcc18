// Formulas: what is one, what becomes of it, and that nothing in it can act.
import { expect, test } from 'vitest';
import { markdownOf } from '../../support/rendering/rendered.ts';

test.each(['$E=mc^2$', '\\(E=mc^2\\)', '**$E=mc^2$**', '- $E=mc^2$', '| a |\n|---|\n| $E=mc^2$ |'])(
  '%s is a formula in its line',
  async (source) => {
    expect(await markdownOf(source)).toContain(
      '<math><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow></math>',
    );
  },
);

test.each(['$$\nx\n$$', '$$x$$', '\\[\nx\n\\]', '\\[ x \\]', '```math\nx\n```', '> $$\n> x\n> $$', 'a $$x$$ b'])(
  '%s is a formula of its own',
  async (source) => {
    expect(await markdownOf(source)).toContain(
      '<span class="scroll formula" tabindex="0" role="group" aria-label="Formula"><math display="block"><mi>x</mi></math></span>',
    );
  },
);

test('lines that would begin a list are lines of the formula around them', async () => {
  const html = await markdownOf('$$\n\\begin{aligned}\na &= b \\\\\n- c &= d\n\\end{aligned}\n$$');
  expect(html).not.toContain('<li>');
  expect(html).toContain('<mtd class="tml-right"><mi>a</mi></mtd><mtd class="tml-left">');
});

test.each([
  'It costs $5 and $6.',
  'US$5 or CA$6$',
  '$5 million of sales (in US$)',
  '$5–$6',
  '\\$x\\$',
  '`$x$`',
  'a \\[x\\] b',
  '$ x $',
  '$$',
  '$$ $$',
  '$x',
  '\\(x',
])('%s is no formula', async (source) => {
  expect(await markdownOf(source)).not.toMatch(/<math|class="scroll/);
});

test('a formula with a fault is shown as it is written', async () => {
  expect(await markdownOf('$\\nothing{<b>}$')).toBe('<p><code>$\\nothing{&lt;b&gt;}$</code></p>\n');
  expect(await markdownOf('$$\n\\nothing\n$$')).toBe(
    '<p><span class="scroll formula"><code>\\nothing</code></span></p>\n',
  );
  expect(await markdownOf('$\\def\\a#1{#1#1#1#1}\\a{\\a{\\a{\\a{\\a{\\a{x}}}}}}$')).toContain('<code>');
  expect(await markdownOf(`$${'{'.repeat(900)}x${'}'.repeat(900)}$`)).toMatch(/<code>|<math>/);
});

test('a long formula in a line scrolls by itself', async () => {
  expect(await markdownOf(`$${'x+'.repeat(30)}x$`)).toMatch(
    /^<p><span class="scroll wide" tabindex="0" role="group" aria-label="Formula"><math>/,
  );
});

test('colours are attributes, since the policy of the page forbids styles', async () => {
  expect(await markdownOf('$\\color{red}{x}$')).toContain('<mi mathcolor="#ff0000">x</mi>');
});

test.each([
  '$\\href{javascript:alert(1)}{x}$',
  '$\\includegraphics{https://example.com/x.png}$',
  '$\\class{masthead}{x}$',
  '$\\text{<img src=x onerror=alert(1)>}$',
  '$\\style{position:fixed}{x}$',
  '$\\data{a=b}{x}$',
  '$x"onmouseover="alert(1)$',
  '<math><mtext><img src=x onerror=alert(1)></mtext></math> $x$',
  '<math href="javascript:alert(1)"><mi>y</mi></math>',
])('nothing in %s can act', async (source) => {
  const tags = [...(await markdownOf(source)).matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag);
  for (const tag of tags)
    expect(tag).toMatch(
      /^<(?:p|code|math|span class="missing"|m[a-z]+(?: (?:stretchy|fence|form|separator|lspace|rspace)="\w*")*)>$/,
    );
});

test('a formula in an attribute stays a text', async () => {
  const html = await markdownOf('<div title="\n\n$x$\n\n">\n\n$y$');
  expect(html).not.toContain('<math><mi>x</mi></math>');
  expect(html).toContain('<math><mi>y</mi></math>');
});

test('no document can name what stands for a formula', async () => {
  const html = await markdownOf('$x$ <x-000000000000000000000000 n="0"></x-000000000000000000000000>');
  expect(html.match(/<math>/g)).toHaveLength(1);
});

test('formulas of more than two megabytes stay TeX', async () => {
  const html = await markdownOf(`$${'x^{y_{z}}'.repeat(100)}$ `.repeat(600));
  expect(html).toContain('<math>');
  expect(html).toContain('<code>$x');
});
