// Sizes and types as people read them.
import { extname } from 'node:path';
import { readableSize } from '../../terminal/sizes.ts';

/** Such as `1 byte`, `3.4 MB`, `340 MB`. */
export function sizeInWords(bytes: number): string {
  return bytes < 1_000 ? counted(bytes, 'byte') : readableSize(bytes);
}

/** Such as `1 file`, `12 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The beginning of a text, on one line. */
export function shortened(text: string, characters: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > characters
    ? `${line
        .slice(0, characters - 1)
        .toWellFormed()
        .trimEnd()}…`
    : line;
}

const TYPES = new Map(
  Object.entries({
    csv: 'CSV table',
    doc: 'Word document',
    docx: 'Word document',
    gz: 'gzip archive',
    htm: 'Web page',
    html: 'Web page',
    markdown: 'Document',
    md: 'Document',
    pdf: 'PDF document',
    ppt: 'Presentation',
    pptx: 'Presentation',
    rtf: 'RTF document',
    tar: 'tar archive',
    tsv: 'TSV table',
    txt: 'Text',
    xls: 'Excel workbook',
    xlsx: 'Excel workbook',
    zip: 'ZIP archive',
  }),
);

const GROUPS: ReadonlySet<string> = new Set(['image', 'audio', 'video']);

/** What a file is, by its name and media type: `PDF document`, `PNG image`, `XYZ file`, `File`. */
export function typeInWords(name: string, mediaType: string | null): string {
  const ending = extname(name).slice(1);
  const known = TYPES.get(ending.toLowerCase());
  if (known !== undefined) return known;
  const group = mediaType?.split('/')[0] ?? '';
  return ending === '' ? 'File' : `${ending.toUpperCase()} ${GROUPS.has(group) ? group : 'file'}`;
}
