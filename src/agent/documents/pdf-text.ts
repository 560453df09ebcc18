// The text of a PDF, page by page.
import { getDocumentProxy } from 'unpdf';

/** Pages in order, each with its number; stops after `limit` characters. */
export async function readPdf(bytes: Uint8Array, limit: number): Promise<string> {
  // The library takes ownership of the bytes.
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  try {
    const pages: string[] = [];
    let characters = 0;
    for (let number = 1; number <= pdf.numPages && characters < limit; number += 1) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
      page.cleanup();
      if (text.trim() === '') continue;
      pages.push(pdf.numPages === 1 ? text : `[Page ${number} of ${pdf.numPages}]\n${text}`);
      characters += text.length;
    }
    return pages.join('\n\n');
  } finally {
    await pdf.loadingTask.destroy();
  }
}
