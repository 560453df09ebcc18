// Renders one text. Executed in a thread of its own: its input is hostile, and its libraries are loaded nowhere else.
import { highlightedFile } from './highlight.ts';
import { renderMarkdown } from './markdown.ts';
import { MAX_HTML_BYTES, type RenderResult, type RenderTask } from './rendering.ts';
import { sanitize } from './sanitize.ts';

export function render(task: RenderTask): RenderResult {
  const text = textOf(task.bytes);
  if (text === undefined) return { kind: 'binary' };
  const made = task.form === 'markdown' ? sanitize(renderMarkdown(text), task.links) : highlightedFile(text, task.name);
  const html = Buffer.from(made);
  return html.length > MAX_HTML_BYTES ? { kind: 'refused' } : { kind: 'html', html };
}

/** UTF-8, UTF-16 with its mark, or Latin-1; undefined for bytes that no text has. */
function textOf(bytes: Uint8Array): string | undefined {
  const wide = WIDE.find(([mark]) => bytes[0] === mark[0] && bytes[1] === mark[1])?.[1];
  if (wide !== undefined) return clean(new TextDecoder(wide).decode(bytes));
  if (bytes.includes(0)) return undefined;
  try {
    return clean(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return clean(new TextDecoder('latin1').decode(bytes));
  }
}

const WIDE = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
] as const;

const clean = (text: string) => text.replaceAll('\u0000', '\uFFFD').replaceAll('\r\n', '\n');
