// Promises of the tools on files that aren't UTF-8 (M6): read in the charset that they are likely in, and written back in it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { editFile } from '../../../src/agent/tools/edit-file.ts';
import { readFile } from '../../../src/agent/tools/read-file.ts';
import { searchFiles } from '../../../src/agent/tools/search-files.ts';
import { writeFile } from '../../../src/agent/tools/write-file.ts';
import { makeWorkspace } from './tool-context.ts';

const TEXTS = [
  ['windows-1252', 'Die Größe der Bestellung über 1.200 € wurde geprüft – „schön“, sagte Frau Müller.'],
  ['windows-1251', 'Отчёт за третий квартал: продажи выросли, расходы снизились.'],
  ['gb18030', '第三季度报告：销售额增长了百分之十二，费用有所下降。'],
  ['big5', '第三季度報告：銷售額增長了百分之十二，費用有所下降。'],
  ['shift_jis', '第三四半期の報告：売上は十二パーセント増加し、費用は減少しました。'],
  ['euc-kr', '3분기 보고서: 매출은 12퍼센트 증가했고 비용은 감소했습니다.'],
  ['utf-16le', '第三季度报告：销售额增长了百分之十二。'],
  ['utf-16be', 'Größe: 1.200 €'],
] as const;

const open = (bytes: Uint8Array) => {
  const workspace = makeWorkspace({ file: bytes });
  return { ...workspace, bytes: () => readFileSync(join(workspace.path, 'file')) };
};
const encoded = (text: string, charset: string) => iconv.encode(text, charset, { addBOM: false });

describe.each(TEXTS)('a file in %s', (charset, sentence) => {
  const text = Array.from({ length: 30 }, (_, index) => `line ${index}: ${sentence}\n`).join('');
  const note = `The file is not UTF-8; it was read as ${charset}.`;

  test('is read with a note, whole and in parts', { tags: ['M6-charset'] }, async () => {
    const file = open(encoded(text, charset));
    expect(await file.run(readFile, { path: 'file' })).toEqual({ ok: true, output: `${text}[${note}]` });
    const { output } = await file.run(readFile, { path: 'file', offset: 12, limit: 2 });
    expect(output).toMatch(`line 11: ${sentence}\nline 12: ${sentence}\n[${note} Lines 12-13 of a file of`);
    expect((await file.run(readFile, { path: 'file', offset: 31 })).output).toContain('it has 30 lines');
  });

  test('is searched', async () => {
    const { output } = await open(encoded(text, charset)).run(searchFiles, {
      pattern: `line 7: ${sentence.slice(0, 12)}`,
    });
    expect(output.split('\n')[0]).toBe(`file:8: line 7: ${sentence}`);
  });

  test('is edited in its charset, and every other byte stays', async () => {
    const file = open(encoded(text, charset));
    const { ok, output } = await file.run(editFile, {
      path: 'file',
      old_text: `line 7: ${sentence}`,
      new_text: `line 7: ${sentence.slice(0, 9)}`,
    });
    expect([ok, output]).toEqual([true, `Replaced 1 occurrence in file. It is written in ${charset}.`]);
    expect(file.bytes()).toEqual(
      encoded(text.replace(`line 7: ${sentence}`, `line 7: ${sentence.slice(0, 9)}`), charset),
    );
  });

  test('keeps its charset when it is written anew, unless the agent says otherwise', {
    tags: ['M6-charset'],
  }, async () => {
    const file = open(encoded(text, charset));
    expect((await file.run(writeFile, { path: 'file', content: sentence })).output).toContain(
      `It is written in ${charset}.`,
    );
    expect(file.bytes()).toEqual(encoded(sentence, charset));
    await file.run(writeFile, { path: 'file', content: text, charset: 'UTF-8' });
    expect(file.bytes().toString()).toBe(text);
  });

  test('is converted as a whole when an edit says so', async () => {
    const file = open(encoded(text, charset));
    await file.run(editFile, {
      path: 'file',
      old_text: 'line 7: ',
      new_text: 'line 7 😀: ',
      charset: 'utf-8',
    });
    expect(file.bytes().toString()).toBe(text.replaceAll('line 7: ', 'line 7 😀: '));
  });
});

test('what the charset lacks is refused by the character, and the file stays', async () => {
  const before = Buffer.from('Gr\xf6\xdfe: 5 \x80\n', 'latin1');
  const file = open(before);
  const { ok, output } = await file.run(editFile, { path: 'file', old_text: '5', new_text: '五' });
  expect([ok, output]).toEqual([
    false,
    'The file is windows-1252, which has no "五". Set `charset` to "utf-8" to convert the whole file, or leave that out.',
  ]);
  expect((await file.run(writeFile, { path: 'file', content: '五' })).ok).toBe(false);
  expect((await file.run(writeFile, { path: 'file', content: 'x', charset: 'klingon' })).output).toContain(
    'There is no charset "klingon"',
  );
  expect(file.bytes()).toEqual(before);
});

test.each([
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
])('a byte-order mark of %s reaches no model, and stays', async (charset, mark) => {
  const withMark = (text: string) => Buffer.concat([Buffer.from(mark), encoded(text, charset)]);
  const file = open(withMark('one\ntwo\n'));
  const { output } = await file.run(readFile, { path: 'file' });
  expect(output.startsWith('one\ntwo\n')).toBe(true);
  expect((await file.run(searchFiles, { pattern: '^one', regexp: true })).output).toContain('file:1: one');
  await file.run(editFile, { path: 'file', old_text: 'one', new_text: 'five' });
  expect(file.bytes()).toEqual(withMark('five\ntwo\n'));
  await file.run(writeFile, { path: 'file', content: '\uFEFFsix' });
  expect(file.bytes()).toEqual(withMark('six'));
});

test('a file of 4 MB is read in one charset from its first line to its last', async () => {
  const [charset, sentence] = TEXTS[2];
  const lines = Array.from({ length: 100_000 }, (_, i) =>
    i % 2 === 0 ? `${i}: plain words alone\n` : `${i}: ${sentence}\n`,
  );
  const file = open(encoded(lines.join(''), charset));
  expect(file.bytes().length).toBeGreaterThan(4_000_000);
  for (const at of [0, 50_000, 99_996])
    expect((await file.run(readFile, { path: 'file', offset: at + 1, limit: 4 })).output).toContain(
      `${lines.slice(at, at + 4).join('')}[The file is not UTF-8; it was read as ${charset}.`,
    );
});

test('a part that is UTF-8 by chance is read in the charset of the file', async () => {
  const rows = ['编号,名称\n', '1,产品\n', '2,模\n', '3,plain\n'];
  const file = open(encoded(rows.join(''), 'gb18030'));
  const note = 'The file is not UTF-8; it was read as gb18030.';
  expect((await file.run(readFile, { path: 'file' })).output).toBe(`${rows.join('')}[${note}]`);
  const { output } = await file.run(readFile, { path: 'file', offset: 3, limit: 1 });
  expect(output).toBe(`2,模\n[${note} Lines 3-3 of a file of 30 bytes; continue with offset 4.]`);
});

test('binary data without a zero is no text', async () => {
  const noise = Buffer.from(Array.from({ length: 9_000 }, (_, i) => 1 + ((i * i * 31 + i * 7) % 255)));
  const file = open(noise);
  expect((await file.run(readFile, { path: 'file' })).output).toBe(
    '"file" is a binary file (unknown kind, 9000 bytes).',
  );
  expect((await file.run(editFile, { path: 'file', old_text: 'a', new_text: 'b' })).ok).toBe(false);
  expect(file.bytes()).toEqual(noise);
});

test('text that is damaged is read, and not edited', async () => {
  const damaged = Buffer.concat([Buffer.from('Größe, Äpfel, Öl, Straße, Müller, schön\n'), Buffer.from([0xc3, 0x0a])]);
  const file = open(damaged);
  expect((await file.run(readFile, { path: 'file' })).output).toContain('Müller, schön\n\uFFFD\n');
  const { ok, output } = await file.run(editFile, { path: 'file', old_text: 'Öl', new_text: 'Oil' });
  expect([ok, output]).toEqual([
    false,
    '"file" is not valid utf-8, so an edit would change other bytes, too; it was not changed.',
  ]);
  expect(file.bytes()).toEqual(damaged);
});
