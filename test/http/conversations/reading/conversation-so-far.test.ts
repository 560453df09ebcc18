// What is kept of the messages that a client resends.
import { expect, test } from 'vitest';
import { MOST_QUOTED } from '../../../../src/domain/sessions/continued/quoted-history.ts';
import { readConversation } from '../../../../src/http/conversations/reading/conversation-so-far.ts';
import type { SpooledStrings } from '../../../../src/http/body/spooled-strings.ts';

const parts = { spooled: { find: () => undefined } as unknown as SpooledStrings, maxCharacters: 1_000_000 };

async function earlierOf(...texts: string[]) {
  const messages = [...texts, 'And now?'].map((content) => ({ role: 'user', content }));
  const { earlier } = await readConversation({ by: 'history' }, { messages, metadata: {}, headers: {} }, parts);
  return earlier.map(({ text }) => text);
}

test('of a long message its end is kept, and of many the newest', { tags: ['M1-history'] }, async () => {
  expect(await earlierOf('One.', 'Two.')).toEqual(['One.', 'Two.']);
  const [kept, ...more] = await earlierOf('Gone.', `${'x'.repeat(900_000)} The end.`);
  expect(more).toEqual([]);
  expect(kept).toMatch(/x The end\.$/);
  // A quote of it says that it is not all.
  expect(kept!.length).toBe(MOST_QUOTED + 1);
  const many = await earlierOf(...Array.from({ length: 50 }, (_, at) => `${at} ${'y'.repeat(10_000)}`));
  expect(many).toHaveLength(20);
  expect(many.at(-1)).toMatch(/^49 /);
  expect(many.join('').length).toBeGreaterThan(MOST_QUOTED);
});
