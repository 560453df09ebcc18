// Small real documents, written by hand: a PDF, a Word document, an Excel workbook, and zips that are more than they seem.
import { crc32, deflateRawSync } from 'node:zlib';

/** A zip archive of these files. */
export function aZip(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), facts, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, index, Buffer.from('PK\x05\x06'), end]);
}

const TYPES = (part: string, type: string) =>
  `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/></Types>`;
const RELATION = (target: string, kind = 'officeDocument') =>
  `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${kind}" Target="${target}"/></Relationships>`;

/** A Word document whose body is this WordprocessingML. */
export function aWordDocument(body: string): Buffer {
  return aZip({
    '[Content_Types].xml': TYPES('word/document.xml', 'wordprocessingml.document.main'),
    '_rels/.rels': RELATION('word/document.xml'),
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  });
}

export const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

/** A workbook with one sheet "Tides" of these rows of SpreadsheetML cells. */
export function aWorkbook(rows: string): Buffer {
  const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  return aZip({
    '[Content_Types].xml': TYPES('xl/workbook.xml', 'spreadsheetml.sheet.main'),
    '_rels/.rels': RELATION('xl/workbook.xml'),
    'xl/workbook.xml': `<?xml version="1.0"?><workbook ${namespace} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Tides" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': RELATION('worksheets/sheet1.xml', 'worksheet'),
    'xl/worksheets/sheet1.xml': `<?xml version="1.0"?><worksheet ${namespace}><sheetData>${rows}</sheetData></worksheet>`,
  });
}

/** A row of a workbook: texts and numbers, from column A on. */
export function aRow(number: number, cells: readonly (string | number)[]): string {
  const written = cells.map((cell, column) => {
    const place = `${String.fromCharCode(65 + column)}${number}`;
    if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`;
    return `<c r="${place}" t="inlineStr"><is><t>${cell}</t></is></c>`;
  });
  return `<row r="${number}">${written.join('')}</row>`;
}

/** A PDF with a page for each text; a text of several lines has them one below the other. */
export function aPdf(pages: readonly string[], content = drawn): Buffer {
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
      content(text),
    ]),
  ];
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let at = parts[0]!.length;
  for (const [index, object] of objects.entries()) {
    offsets.push(at);
    const part = Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(object as string),
      Buffer.from('\nendobj\n'),
    ]);
    parts.push(part);
    at += part.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

function drawn(text: string): Buffer {
  const lines = text.split('\n').map((line, index) => `1 0 0 1 20 ${250 - index * 20} Tm (${line}) Tj`);
  return stream(Buffer.from(`BT /F1 12 Tf ${lines.join(' ')} ET`));
}

/** A PDF stream object, packed. */
export function stream(content: Buffer): Buffer {
  const packed = Buffer.concat([Buffer.from([0x78, 0x9c]), deflateRawSync(content), Buffer.alloc(4)]);
  return Buffer.concat([
    Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
    packed,
    Buffer.from('\nendstream'),
  ]);
}
