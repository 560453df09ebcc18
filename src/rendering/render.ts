// Renders one text. Executed in a thread of its own: its input is hostile, and its libraries are loaded nowhere else.
import { MAX_HTML_BYTES, type RenderResult, type RenderTask } from './rendering.ts';

export async function render(task: RenderTask): Promise<RenderResult> {
  const text = textOf(task.bytes);
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

/** UTF-8, UTF-16 with a byte order mark, or Latin-1; undefined for bytes that no text contains. */
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
