// Renders one text. Executed in a process of its own: its input is hostile, and its libraries are loaded nowhere else.
import { decodeText } from '../domain/charsets/charset-text.ts';
import { wideCharset } from '../domain/charsets/detect-charset.ts';
import { type Contents, MAX_HTML_BYTES, NO_CONTENTS, type RenderResult, type RenderTask } from './rendering.ts';

export async function render(task: RenderTask): Promise<RenderResult> {
  const text = await textOf(task.bytes);
  if (text === undefined) return { kind: 'binary' };
  const { html: made, contents = NO_CONTENTS } = await htmlOf(task, text);
  // In a buffer of its own: `Buffer.from` puts a short text into a shared one of 64 KiB, which goes with it to whoever keeps it.
  const html = new TextEncoder().encode(made);
  return html.length > MAX_HTML_BYTES ? { kind: 'refused' } : { kind: 'html', html, contents };
}

interface Made {
  readonly html: string;
  readonly contents?: Contents;
}

/** A process renders one text, so each form loads only its own libraries. */
async function htmlOf(task: RenderTask, text: string): Promise<Made> {
  if (task.form === 'code') return { html: (await import('./highlight.ts')).highlightedFile(text, task.name) };
  if (task.form === 'table') return { html: (await import('./tables/table.ts')).renderTable(text, task) };
  const { renderMarkdown, withFormulas } = await import('./markdown.ts');
  const { sanitize } = await import('./sanitize.ts');
  const { html, contents, stand, formulas } = renderMarkdown(text);
  const safe = sanitize(html, task.links, stand);
  if (formulas.length === 0) return { html: safe, contents };
  const { renderFormulas } = await import('./markdown/formulas.ts');
  return { html: withFormulas(safe, stand, renderFormulas(formulas)), contents };
}

/** The text in the charset that it is likely in; undefined for bytes that no text contains. */
async function textOf(bytes: Uint8Array): Promise<string | undefined> {
  if (bytes.includes(0) && wideCharset(bytes) === undefined) return undefined;
  const decoded = await decodeText(bytes);
  return decoded === undefined ? undefined : clean(decoded.text);
}

const clean = (text: string) => text.replaceAll('\r\n', '\n');
