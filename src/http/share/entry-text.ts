// The text of an entry as HTML: Markdown rendered, source code highlighted.
import type { PublicPage, PublicPages, PublicVersion } from '../../operations/publishing/public-pages.ts';
import type { Renderer } from '../../rendering/renderer.ts';
import { type LinkTargets, MAX_SOURCE_BYTES, type RenderTask } from '../../rendering/rendering.ts';
import type { EntryText } from './content.ts';
import { type Entry, entryOf } from './entry.ts';

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

  return async ({ key, owner }: PublicPage, version: PublicVersion): Promise<EntryText> => {
    const entry = entryOf(version);
    const { name, view, size, base } = entry;
    if (view !== 'markdown' && view !== 'text') return { kind: 'none' };
    if (size > MAX_SOURCE_BYTES) return { kind: 'none' };
    const load = async (): Promise<RenderTask> => {
      const bytes = await readEntry(publicPages, version.shareCode);
      if (view === 'text') return { form: 'code', bytes, name };
      return { form: 'markdown', bytes, name, links: await linksOf(key, version.no, entry) };
    };
    const content = `${version.entry.sha256} ${view === 'text' ? name : view}`;
    const result = await renderer.render({
      // The links of Markdown lead to the files of its own version.
      key: view === 'text' ? content : `${content} ${base}`,
      content,
      owner: owner.account,
      load,
    });
    if (result.kind === 'html') return result;
    return { kind: result.kind === 'binary' ? 'none' : 'source' };
  };
}

async function readEntry({ openEntry }: ReadTextParts['publicPages'], code: string): Promise<Uint8Array> {
  const { blob } = await openEntry(code);
  try {
    const bytes = Buffer.alloc(blob.size);
    await blob.read(bytes, 0);
    return bytes;
  } finally {
    await blob.close();
  }
}
