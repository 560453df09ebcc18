// What a session begins with that its client has had elsewhere, and what is left of it in a small window.
import { expect, test } from 'vitest';
import { cutQuote, MOST_QUOTED, quotedHistory } from '../../../../src/domain/sessions/continued/quoted-history.ts';

const said = (count: number, characters: number) =>
  Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
    text: `Message ${at}. ${'x'.repeat(characters)}`,
  }));
const quoteOf = (all: Parameters<typeof quotedHistory>[0]) => quotedHistory(all)[0]!.text;
const LEFT_OUT = 'Older ones were left out';

test('a short conversation is quoted whole', { tags: ['M1-history'] }, () => {
  const quote = quoteOf(said(4, 10));
  expect(quote).toMatch(/^<earlier_conversation>\n.*\n\n\[user\]\nMessage 0\. .*<\/earlier_conversation>$/s);
  expect(quote).toContain('[assistant]\nMessage 3.');
  expect(quote).not.toContain(LEFT_OUT);
  expect(quotedHistory([{ role: 'user', text: '' }])).toEqual([]);
});

test.each([
  ['of many messages', said(300, 1_000), 'Message 299.'],
  ['of one long message', [{ role: 'user' as const, text: `${'y'.repeat(900_000)} The end.` }], 'The end.'],
])(
  'the quote %s has the newest of it, and says that older ones were left out',
  { tags: ['M1-history'] },
  (_of, all, newest) => {
    let quote = quoteOf(all);
    // Also when it is cut again and again.
    for (const most of [MOST_QUOTED, 30_000, 4_000, 1_500]) {
      quote = cutQuote(quote, most);
      expect(quote.length).toBeLessThanOrEqual(most);
      expect(quote.length).toBeGreaterThan(most / 3);
      expect(quote.split(LEFT_OUT)).toHaveLength(2);
      expect(quote).toContain(newest);
      expect(quote).toMatch(/do not fit\.\n\n\[(user|assistant)\]\n/);
      expect(quote).toMatch(/\n\n<\/earlier_conversation>$/);
    }
  },
);

test('messages are left out whole, but for a long one, whose speaker is named', () => {
  expect(cutQuote(quoteOf(said(40, 50)), 1_000)).not.toContain('…');
  const long = [
    { role: 'user' as const, text: 'Hi.' },
    { role: 'assistant' as const, text: 'z'.repeat(5_000) },
  ];
  expect(cutQuote(quoteOf(long), 2_000)).toMatch(/\n\n\[assistant\]\n… z+\n/);
});
