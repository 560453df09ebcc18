// What a call changes in a file, line by line: of an edit the lines that go and come, of a write its text.
import type { JsonObject, JsonValue } from '../../domain/json.ts';

/** `same` lines stand around the others. */
export interface ChangedLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

export interface Changes {
  readonly lines: readonly ChangedLine[];
  readonly added: number;
  readonly removed: number;
}

/** More pairs of lines than this are not compared: all of the old ones go, and all of the new ones come. */
const MAX_PAIRS = 40_000;
/** More lines say no more. */
const MAX_LINES = 5000;
/** Lines around what changes. */
const AROUND = 2;

/** Null for a call that shows no text of a file. */
export function changesOf(name: string, input: JsonObject): Changes | null {
  if (name === 'write_file') return typeof input['content'] === 'string' ? changes('', input['content']) : null;
  if (name !== 'edit_file') return null;
  const [before, after] = [textOf(input['old_text']), textOf(input['new_text'])];
  return before === null && after === null ? null : changes(before ?? '', after ?? '');
}

const textOf = (value: JsonValue | undefined) => (typeof value === 'string' ? value : null);

function changes(before: string, after: string): Changes {
  const lines = compared(linesOf(before), linesOf(after));
  const count = (kind: ChangedLine['kind']) => lines.filter((line) => line.kind === kind).length;
  return { lines, added: count('added'), removed: count('removed') };
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n').slice(0, MAX_LINES));

function compared(before: readonly string[], after: readonly string[]): readonly ChangedLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const same = (lines: readonly string[]) => lines.map((text): ChangedLine => ({ kind: 'same', text }));
  return [
    ...same(after.slice(Math.max(0, head - AROUND), head)),
    ...between(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(after.slice(after.length - tail, after.length - tail + AROUND)),
  ];
}

/** The longest sequence of lines that both have stays. */
function between(before: readonly string[], after: readonly string[]): readonly ChangedLine[] {
  const [rows, columns] = [before.length, after.length];
  const removed = (text: string): ChangedLine => ({ kind: 'removed', text });
  const added = (text: string): ChangedLine => ({ kind: 'added', text });
  if (rows * columns > MAX_PAIRS) return [...before.map(removed), ...after.map(added)];
  // The length of what both have from a pair of lines on.
  const lengths = Array.from({ length: rows + 1 }, () => new Uint16Array(columns + 1));
  for (let row = rows - 1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1)
      lengths[row]![column] =
        before[row] === after[column]
          ? lengths[row + 1]![column + 1]! + 1
          : Math.max(lengths[row + 1]![column]!, lengths[row]![column + 1]!);
  const lines: ChangedLine[] = [];
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] === after[column]) {
      lines.push({ kind: 'same', text: after[column]! });
      row += 1;
      column += 1;
    } else if (column === columns || (row < rows && lengths[row + 1]![column]! >= lengths[row]![column + 1]!)) {
      lines.push(removed(before[row]!));
      row += 1;
    } else {
      lines.push(added(after[column]!));
      column += 1;
    }
  }
  return lines;
}
