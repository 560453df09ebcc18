// Renders one text. Executed in a thread of its own: its input is hostile, and its libraries are loaded nowhere else.
import { decodeText } from '../domain/charsets/charset-text.ts';
import { wideCharset } from '../domain/charsets/detect-charset.ts';
import { MAX_HTML_BYTES, type RenderResult, type RenderTask } from './rendering.ts';

export async function render(task: RenderTask): Promise<RenderResult> {
  const text = await textOf(task.bytes);
  if (text === undefined) return { kind: 'binary' };
  // In a buffer of its own: `Buffer.from` puts a short text into a shared one of 64 KiB, which goes with it to whoever keeps it.
  const html = new TextEncoder().encode(await htmlOf(task, text));
  return html.length > MAX_HTML_BYTES ? { kind: 'refused' } : { kind: 'html', html };
}

/** A thread renders one text, so each form loads only its own libraries. */
async function htmlOf(task: RenderTask, text: string): Promise<string> {
  if (task.form === 'code') return (await import('./highlight.ts')).highlightedFile(text, task.name);
  const { renderMarkdown } = await import('./markdown.ts');
  const { sanitize } = await import('./sanitize.ts');
  return sanitize(renderMarkdown(text), task.links);
}

/** The text in the charset that it is likely in; undefined for bytes that no text contains. */
async function textOf(bytes: Uint8Array): Promise<string | undefined> {
  if (bytes.includes(0) && wideCharset(bytes) === undefined) return undefined;
  const decoded = await decodeText(bytes);
  return decoded === undefined ? undefined : clean(decoded.text);
}

const clean = (text: string) => text.replaceAll('\r\n', '\n');
