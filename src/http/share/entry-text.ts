// The text of an entry as HTML: Markdown rendered, source code highlighted, tables laid out.
import type { PublicPage, PublicPages, PublicVersion } from '../../operations/publishing/public-pages.ts';
import type { Renderer } from '../../rendering/renderer.ts';
import { type LinkTargets, MAX_SOURCE_BYTES, type RenderTask } from '../../rendering/rendering.ts';
import type { EntryText } from './content.ts';
import type { Entry } from './entry.ts';

export interface ReadTextParts {
  readonly publicPages: Pick<PublicPages, 'paths' | 'openEntry'>;
  readonly renderer: Pick<Renderer, 'render'>;
}

/** Makes the reader of texts, which rejects when the bytes of an entry are gone. */
export function makeReadText({ publicPages, renderer }: ReadTextParts) {
  async function linksOf(key: string, no: number, { base, folder }: Entry): Promise<LinkTargets> {
    const paths = await publicPages.paths(key, no);
    return { base, folder, paths: paths.map((path) => path.slice(folder.length)) };
  }

  return async ({ key, owner }: PublicPage, version: PublicVersion, entry: Entry): Promise<EntryText> => {
    const { name, view, size, base } = entry;
    if (view !== 'markdown' && view !== 'text' && view !== 'table') return { kind: 'none' };
    const isCut = size > MAX_SOURCE_BYTES;
    // Only a table says something by its beginning.
    if (isCut && view !== 'table') return { kind: 'none' };
    const load = async (): Promise<RenderTask> => {
      const bytes = await readEntry(publicPages, version.shareCode);
      if (view === 'text') return { form: 'code', bytes, name };
      if (view === 'table') return { form: 'table', bytes, name, isCut };
      return { form: 'markdown', bytes, name, links: await linksOf(key, version.no, entry) };
    };
    const content = `${version.entry.sha256} ${NAMED.has(view) ? `${view} ${name}` : view}`;
    const result = await renderer.render({
      // The links of Markdown lead to the files of its own version.
      key: view === 'markdown' ? `${content} ${base}` : content,
      content,
      owner: owner.account,
      load,
    });
    if (result.kind === 'html') return result;
    return { kind: result.kind === 'binary' ? 'none' : 'source' };
  };
}

/** Views of which the name says how they are rendered. */
const NAMED: ReadonlySet<Entry['view']> = new Set(['text', 'table']);

/** The bytes of an entry, or the first of them. */
async function readEntry({ openEntry }: ReadTextParts['publicPages'], code: string): Promise<Uint8Array> {
  const { blob } = await openEntry(code);
  try {
    const bytes = Buffer.alloc(Math.min(blob.size, MAX_SOURCE_BYTES));
    await blob.read(bytes, 0);
    return bytes;
  } finally {
    await blob.close();
  }
}
