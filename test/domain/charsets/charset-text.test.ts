// Texts as people have them: every charset that the detector offers, whole, cut off, short, and what only looks like text (M6).
import { randomBytes } from 'node:crypto';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { charsetNamed, decodeText, encodeAs, openText } from '../../../src/domain/charsets/charset-text.ts';
import { detectCharset } from '../../../src/domain/charsets/detect-charset.ts';
import { leastOfFive } from '../../support/time/machine-speed.ts';

const WORDS = {
  german:
    'Die Größe der Bestellung über 1.200 € wurde am Montag geprüft – „schön“, sagte Frau Müller. Straße, Äpfel, Öl.',
  french: 'Le café était fermé à Noël ; l’été, ça coûte 15 € – « très cher », dit-elle. Où êtes-vous allés hier ?',
  polish: 'Zażółć gęślą jaźń. Wszystkie przesyłki zostały wysłane w środę, a następne będą w piątek.',
  russian: 'Отчёт за третий квартал: продажи выросли на двенадцать процентов, расходы снизились. Проверьте таблицу.',
  greek: 'Η παραγγελία στάλθηκε την Τετάρτη και πληρώθηκε με έμβασμα. Παρακαλώ ελέγξτε τον πίνακα.',
  turkish: 'Sipariş çarşamba günü gönderildi ve havale ile ödendi. Lütfen tabloyu kontrol ediniz, ışık şöyle ığdır.',
  hebrew: 'ההזמנה נשלחה ביום רביעי ושולמה בהעברה בנקאית. אנא בדקו את הטבלה.',
  arabic: 'تم إرسال الطلب يوم الأربعاء ودفع ثمنه بحوالة مصرفية. يرجى مراجعة الجدول.',
  thai: 'รายงานไตรมาสที่สาม ยอดขายเพิ่มขึ้นร้อยละสิบสอง กรุณาตรวจสอบตารางและตอบกลับภายในวันศุกร์',
  simplified: '第三季度报告：销售额增长了百分之十二，费用有所下降。请检查表格并在星期五之前回复。谢谢您的合作。',
  traditional: '第三季度報告：銷售額增長了百分之十二，費用有所下降。請檢查表格並在星期五之前回覆。謝謝您的合作。',
  japanese:
    '第三四半期の報告：売上は十二パーセント増加し、費用は減少しました。表を確認して、金曜日までにご返信ください。',
  korean: '3분기 보고서: 매출은 12퍼센트 증가했고 비용은 감소했습니다. 표를 확인하고 금요일까지 회신해 주십시오.',
} as const;

const CASES: readonly (readonly [keyof typeof WORDS, string])[] = [
  ['german', 'windows-1252'],
  ['french', 'windows-1252'],
  ['polish', 'windows-1250'],
  ['polish', 'iso-8859-2'],
  ['russian', 'windows-1251'],
  ['russian', 'koi8-r'],
  ['russian', 'iso-8859-5'],
  ['russian', 'ibm866'],
  ['greek', 'windows-1253'],
  ['turkish', 'windows-1254'],
  ['hebrew', 'windows-1255'],
  ['arabic', 'windows-1256'],
  ['thai', 'windows-874'],
  ['simplified', 'gb18030'],
  ['traditional', 'big5'],
  ['japanese', 'shift_jis'],
  ['japanese', 'euc-jp'],
  ['korean', 'euc-kr'],
  ['simplified', 'utf-16le'],
  ['german', 'utf-16le'],
  ['russian', 'utf-16be'],
  ['german', 'utf-8'],
  ['korean', 'utf-8'],
];

const NAMES: Record<string, string> = { ibm866: 'cp866' };
const encoded = (text: string, charset: string) => iconv.encode(text, NAMES[charset] ?? charset, { addBOM: false });
const readingOf = async (bytes: Uint8Array) => {
  const decoded = await decodeText(bytes);
  return [decoded?.charset, decoded?.text];
};
const linesOf = (text: string, count: number) => Array.from({ length: count }, (_, i) => `${i} ${text}\n`).join('');

describe.each(CASES)('%s text in %s', (language, charset) => {
  const text = linesOf(WORDS[language], 40);

  test('is read, edited and written back in it', async () => {
    const bytes = encoded(text, charset);
    expect(await readingOf(bytes)).toEqual([charset, text]);
    const opened = await openText(bytes);
    expect(opened).toMatchObject({ text, charset });
    const back = await encodeAs(text.replaceAll('1', '2'), charset);
    expect(back.ok && (await readingOf(back.bytes))).toEqual([charset, text.replaceAll('1', '2')]);
  });

  test('is read where it is cut off within a character', async () => {
    const bytes = encoded(text, charset);
    for (const less of [1, 2, 3]) {
      const [found, read] = await readingOf(bytes.subarray(0, bytes.length - less));
      expect(found).toBe(charset);
      // At most the last character is wrong.
      expect(text.startsWith(read!.slice(0, -2))).toBe(true);
      expect(text.length - read!.length).toBeLessThanOrEqual(3);
    }
  });

  test('is read in a file of 4 MB, also where only its last lines have more than ASCII', async () => {
    const filler = encoded('Nothing here but plain words, 1234567890.\n', charset);
    const end = encoded(text, charset);
    const long = Buffer.concat([...Array.from({ length: 4_194_304 / filler.length }, () => filler), end]);
    const [found, read] = await readingOf(long);
    expect(found).toBe(charset);
    expect(read!.endsWith(text)).toBe(true);
    const [all, whole] = await readingOf(encoded(linesOf(WORDS[language], (4_194_304 / end.length) * 40), charset));
    expect([all, whole!.length > 500_000]).toEqual([charset, true]);
  });
});

test.each([
  ['a name', 'Müller\n', 'windows-1252'],
  ['a price', 'Preis: 5 €', 'windows-1252'],
  ['a word in a page of ASCII', `${'All is well here. '.repeat(500)}café`, 'windows-1252'],
  ['names', 'José García\nMaría Núñez\nÍñigo Peña\nBegoña López\n', 'windows-1252'],
  ['a measure', 'The size is 3 × 4 m². Power: 5 kW·h.', 'windows-1252'],
  ['a measure', '10 µm ± 2 µm', 'windows-1252'],
  ['a measure', '5 cm³', 'windows-1252'],
  ['signs', '£5 and §7', 'windows-1252'],
  ['a sign', '© Acme', 'windows-1252'],
  ['a question', '¿Qué año es?', 'windows-1252'],
  ['a dish', 'Smørrebrød på Ærø', 'windows-1252'],
  ['cities', 'Kraków, Gdańsk, Poznań', 'windows-1250'],
  ['words', 'był mały', 'windows-1250'],
  ['a price', '5 zł', 'windows-1250'],
  ['a city', 'Łódź', 'iso-8859-2'],
  ['a word', 'да', 'windows-1251'],
  ['a measure', 'до 5kВт', 'windows-1251'],
  ['a word', 'да', 'ibm866'],
  ['a city', 'Αθήνα', 'windows-1253'],
  ['a greeting', '你好世界', 'gb18030'],
  ['a city', 'Москва', 'windows-1251'],
  ['a city', '서울특별시', 'euc-kr'],
])('%s: "%s"', async (_what, text, charset) => {
  expect(await readingOf(encoded(text, charset))).toEqual([charset, text]);
});

test('UTF-8 wins wherever it is valid, and with a few damaged bytes', async () => {
  for (const text of ['', 'plain', '€', 'Ã¼', '联通', '中文', linesOf(WORDS.greek, 3)]) {
    expect(await readingOf(Buffer.from(text))).toEqual(['utf-8', text]);
  }
  const [charset, text] = await readingOf(Buffer.concat([Buffer.from(WORDS.russian), Buffer.from([0xd0, 0x0a])]));
  expect([charset, text]).toEqual(['utf-8', `${WORDS.russian}\uFFFD\n`]);
});

test.each([
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
])('a mark of %s says what it is, reaches nobody, and is kept', async (charset, mark) => {
  const bytes = Buffer.concat([Buffer.from(mark), encoded('Grün\n', charset)]);
  expect(await readingOf(bytes)).toEqual([charset, 'Grün\n']);
  const opened = await openText(bytes);
  if (!('text' in opened)) throw new Error('not opened');
  const back = await encodeAs('Rot\n', charset, opened.mark);
  expect(back).toEqual({ ok: true, bytes: Buffer.concat([Buffer.from(mark), encoded('Rot\n', charset)]) });
});

test('what only looks like text is none', async () => {
  const floats = Buffer.from(new Float32Array(4_000).map((_, i) => i / 3).buffer);
  expect(await detectCharset(floats)).toBeUndefined();
  const noise = Buffer.from(randomBytes(200_000).filter((byte) => byte !== 0));
  expect(await detectCharset(noise)).toBeUndefined();
});

test('a character that a charset lacks is named, and nothing is written', async () => {
  expect(await encodeAs('5 € für 你', 'windows-1252')).toEqual({ ok: false, lacks: '你' });
  expect(await encodeAs('😀', 'shift_jis')).toEqual({ ok: false, lacks: '😀' });
  expect(await encodeAs('😀', 'gb18030')).toMatchObject({ ok: true });
});

test('charsets are known by all their names', () => {
  expect(['latin1', 'GBK', 'sjis', 'ks_c_5601-1987', ' UTF8 ', 'cp1251'].map(charsetNamed)).toEqual([
    'windows-1252',
    'gbk',
    'shift_jis',
    'euc-kr',
    'utf-8',
    'windows-1251',
  ]);
  expect(['', 'klingon', 'iso-2022-kr'].map(charsetNamed)).toEqual([undefined, undefined, undefined]);
});

test('to find a charset takes less than a turn may, however large the text is', async () => {
  const bytes = encoded(linesOf(WORDS.simplified, 40_000), 'gb18030');
  const measure = async () => {
    const before = process.threadCpuUsage();
    expect(await detectCharset(bytes)).toBe('gb18030');
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  // Without what the first text of a thread costs.
  await measure();
  expect(await leastOfFive(50, measure)).toBeLessThan(50);
});
