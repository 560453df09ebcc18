// The text of an Excel workbook (XLSX): each sheet as comma-separated lines under its name.
import readWorkbook from 'read-excel-file/node';

type Cell = string | number | boolean | Date | null;

/** Sheets in order; stops after `limit` characters. */
export async function readSheets(bytes: Uint8Array, limit: number): Promise<string> {
  const sheets = await readWorkbook(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const lines: string[] = [];
  let characters = 0;
  for (const { sheet, data } of sheets) {
    lines.push(`${lines.length === 0 ? '' : '\n'}[Sheet "${sheet}", ${data.length} rows]`);
    for (const row of data as readonly (readonly Cell[])[]) {
      if (characters >= limit) return lines.join('\n');
      const line = row.map(cellText).join(',');
      lines.push(line);
      characters += line.length + 1;
    }
  }
  return characters === 0 ? '' : lines.join('\n');
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  const text = cell instanceof Date ? cell.toISOString().replace('T00:00:00.000Z', '') : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
