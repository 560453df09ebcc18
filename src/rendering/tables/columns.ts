// What the columns of a table contain: how they are aligned, and by what they are sorted.

/** `decimal`: the character before decimals; null for a column of texts. */
export interface Column {
  readonly decimal: '.' | ',' | null;
}

const NUMBER = /^[+\-\u2212(]?\s?[$€£¥]?\s?[\d][\d.,'\u2019 \u00A0\u202F]*\s?(?:[$€£¥%‰])?\)?$/u;
/** A comma before anything but three digits, or behind points between thousands. */
const DECIMAL_COMMA = /^\D*0,\d|\.\d{3},\d|,(?:\d{1,2}|\d{4,})\D*$/;
const DATE = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}/;

export function columnOf(cells: readonly string[]): Column {
  const filled = cells.filter((cell) => cell !== '');
  if (filled.length === 0 || !filled.every(isNumber)) return { decimal: null };
  return { decimal: filled.some((cell) => DECIMAL_COMMA.test(cell)) ? ',' : '.' };
}

/** Whether the first row names the columns: it does unless it has nothing but figures, as the others do. */
export function isHeader(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return filled.some((cell) => !isNumber(cell) && !DATE.test(cell));
}

const isNumber = (cell: string) => NUMBER.test(cell.trim()) && !DATE.test(cell.trim());
