import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { guardedOutput } from '../../../src/tui/terminal/output.ts';
import { textOf } from '../../../src/tui/text/line.ts';
import { span } from '../../../src/tui/text/line.ts';
import { type Column, layOut } from '../../../src/tui/text/table.ts';

test('after text from right to left comes a mark, so that the columns behind it stay where they are', () => {
  const columns: readonly Column<string>[] = [
    { title: 'TITLE', width: 10, worth: 2, cell: (text) => span(text) },
    { title: 'TIME', width: 4, worth: 1, cell: () => span('0:07') },
  ];
  const { row } = layOut(columns, 16);
  const terminal = new PassThrough();
  const output = guardedOutput(terminal as unknown as WriteStream);
  const drawn = (text: string) => {
    output.write(textOf([{ spans: row(text) }]));
    return String(terminal.read());
  };
  expect(drawn('تقرير')).toBe('تقرير     \u200e  0:07');
  expect(drawn('report')).toBe('report      0:07');
  expect(drawn('re\ue000port')).toBe('report      0:07');
});
