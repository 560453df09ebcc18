// Texts as the process renders them, without a process.
import { render } from '../../../src/rendering/render.ts';
import type { Contents, RenderTask } from '../../../src/rendering/rendering.ts';

/** The document is /site/index.md, published with these. */
export const LINKS = {
  base: '/assets/',
  folder: '/site/',
  paths: ['index.md', 'other.md', 'a b.png', 'img/x.png', 'quay/#1.png'],
};

async function rendered(task: RenderTask): Promise<{ readonly html: string; readonly contents: Contents }> {
  const result = await render(task);
  if (result.kind !== 'html') throw new Error(result.kind);
  return { html: Buffer.from(result.html).toString(), contents: result.contents };
}

/** A document and its contents. */
export function documentOf(source: string) {
  return rendered({ form: 'markdown', name: 'index.md', links: LINKS, bytes: Buffer.from(source) });
}

export const markdownOf = async (source: string) => (await documentOf(source)).html;

export async function tableOf(source: string | Uint8Array, { name = 'a.csv', isCut = false } = {}): Promise<string> {
  return (await rendered({ form: 'table', name, isCut, bytes: Buffer.from(source as string) })).html;
}

/** What the cells of each row show, the heading first. */
export const cellsOf = (html: string): string[][] =>
  [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) => cell),
  );
