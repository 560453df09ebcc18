// The text of a Word document (DOCX): headings, lists and tables as text, without pictures.
import mammoth from 'mammoth';
import { textOfHtml } from './page-text.ts';

const NO_PICTURES = mammoth.images.imgElement(async () => ({ src: '' }));

export async function readWord(bytes: Uint8Array): Promise<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { value } = await mammoth.convertToHtml(
    { buffer },
    { convertImage: NO_PICTURES, externalFileAccess: false, includeEmbeddedStyleMap: false },
  );
  return textOfHtml(value);
}
