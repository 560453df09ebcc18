// Images that follow each other, as a grid.
import { expect, test } from 'vitest';
import { markdownOf } from '../../support/rendering/rendered.ts';

const X = '![The quay](img/x.png)';
const IMAGE = '<img alt="The quay" src="/assets/img/x.png" loading="lazy" />';
const LINKED = `<a href="/assets/img/x.png">${IMAGE}</a>`;

test('images of one paragraph, and of paragraphs without a word, are one grid', async () => {
  const grid = `<div class="images">${LINKED}${LINKED}${LINKED}</div>\n`;
  expect(await markdownOf(`${X} ${X}\n${X}`)).toBe(grid);
  expect(await markdownOf(`${X}\n\n${X}\n\n${X}`)).toBe(grid);
  expect(await markdownOf(`a\n\n${X}\n${X}\n\n${X}\n\nb`)).toBe(`<p>a</p>\n${grid}<p>b</p>\n`);
});

test('one image, and images among words, stay where they are', async () => {
  expect(await markdownOf(X)).toBe(`<p>${IMAGE}</p>\n`);
  expect(await markdownOf(`${X} and ${X}`)).toBe(`<p>${IMAGE} and ${IMAGE}</p>\n`);
});

test('an image that leads elsewhere still does, and one without a description is no link', async () => {
  expect(await markdownOf(`[${X}](other.md) ![](img/x.png)`)).toBe(
    `<div class="images"><a href="/assets/other.md">${IMAGE}</a><img alt="" src="/assets/img/x.png" loading="lazy" /></div>\n`,
  );
});
