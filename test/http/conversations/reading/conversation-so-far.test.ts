// What a request says of its conversation, and what is kept of the messages that it resends.
import { expect, test } from 'vitest';
import { linkAfter, NOTHING_SAID, type Said } from '../../../../src/domain/sessions/continued/history-chain.ts';
import { MOST_QUOTED } from '../../../../src/domain/sessions/continued/quoted-history.ts';
import { NO_SPOOLED_STRINGS } from '../../../../src/http/body/spooled-strings.ts';
import { readConversation } from '../../../../src/http/conversations/reading/conversation-so-far.ts';

/** Of an answer that no two conversations have by chance. */
const LONG = 'x'.repeat(200);
const PARTS = { spooled: NO_SPOOLED_STRINGS, maxCharacters: 1_000 };
const LONG_PARTS = { ...PARTS, maxCharacters: 1_000_000 };
const user = (text: string): Said => ({ role: 'user', text });
const assistant = (text: string): Said => ({ role: 'assistant', text });
const messagesOf = (said: readonly Said[]) => said.map(({ role, text }) => ({ role, content: text }));
const read = (...said: readonly Said[]) =>
  readConversation({ by: 'history' }, { messages: messagesOf(said), metadata: {}, headers: {} }, PARTS);

test('texts between tool calls that a client resends one by one are what its run has streamed', {
  tags: ['M1-history', 'M3-stream'],
}, async () => {
  const streamed = [user('Look.'), assistant('I look.Found.')].reduce(linkAfter, NOTHING_SAID);
  const { resent, asked } = await read(user('Look.'), assistant('I look.'), assistant('Found.'), user('And now?'));
  expect(resent).toEqual([{ links: [streamed], after: 0 }]);
  expect(asked).toEqual(linkAfter(streamed, user('And now?')));
  // What a failed run has left unanswered are two messages.
  const unanswered = await read(user('Look.'), user('Look again.'), assistant('Found.'), user('And now?'));
  expect(unanswered.resent[0]!.links).toEqual([
    [user('Look.'), user('Look again.'), assistant('Found.')].reduce(linkAfter, NOTHING_SAID),
  ]);
});

test('beginnings end with an answer; the longest ones are looked for, the whole first', {
  tags: ['M1-history'],
}, async () => {
  const turns = Array.from({ length: 20 }, (_, at) => [
    user(`Ask ${at}.`),
    assistant('I look.'),
    assistant(`Say ${at}. ${LONG}`),
  ]);
  const said = [...turns.flat(), user('And this?')];
  const { resent } = await read(...said, user('And now?'));
  expect(resent.map(({ after }) => after)).toEqual([0, 1, 4, 7, 10, 13, 16, 19, 22]);
  for (const { links, after } of resent.slice(1)) {
    const [whole] = (await read(...said.slice(0, said.length - after), user('And now?'))).resent;
    expect(links).toEqual(whole!.links);
  }
});

test('a beginning is looked for where it says enough, ends with a text, and its conversation has no name', {
  tags: ['M1-history'],
}, async () => {
  const afterOf = async (...said: readonly Said[]) =>
    (await read(user('Hi'), ...said, user('And now?'))).resent.map(({ after }) => after);
  expect(await afterOf(assistant('Hello!'), user('Look.'), assistant('Found.'))).toEqual([0]);
  expect(await afterOf(assistant(LONG), user('Look.'), assistant('Found.'))).toEqual([0, 2]);
  expect(await afterOf(assistant(LONG), user('Look.'), assistant(''), user('Well?'), assistant('Found.'))).toEqual([
    0, 4,
  ]);
  const messages = messagesOf([user('Hi'), assistant(LONG), user('Look.'), assistant('Found.'), user('And now?')]);
  const named = { messages, metadata: { chat: 'a' }, headers: {} };
  expect((await readConversation({ by: 'metadata', field: 'chat' }, named, PARTS)).resent).toHaveLength(1);
});

test('what says nothing, or more than can be read, is looked for nowhere', { tags: ['M1-history'] }, async () => {
  expect((await read(user('Begin.'))).resent).toEqual([]);
  expect((await read(user(''), assistant(''), user('Begin.'))).resent).toEqual([]);
  const long = { role: 'assistant', content: [{ text: 'x'.repeat(1_001) }] };
  const messages = [{ role: 'user', content: 'Look.' }, long, { role: 'user', content: 'And now?' }];
  const unread = await readConversation({ by: 'history' }, { messages, metadata: {}, headers: {} }, PARTS);
  expect([unread.resent, unread.asked]).toEqual([[], null]);
});

test('a name that is too long is refused, also one that is so long that only its stand-in is here', {
  tags: ['M1-name'],
}, async () => {
  const spooled = { find: (text: string) => (text === 'stand-in' ? { pieces: async function* () {} } : undefined) };
  const named = (name: string) =>
    readConversation(
      { by: 'metadata', field: 'chat' },
      { messages: messagesOf([user('Begin.')]), metadata: { chat: name }, headers: {} },
      { ...PARTS, spooled },
    );
  for (const name of ['x'.repeat(257), 'stand-in']) await expect(named(name)).rejects.toThrow('metadata.chat');
  expect((await named('x'.repeat(256))).name).toHaveLength(256);
});

async function earlierOf(...texts: string[]) {
  const messages = [...texts, 'And now?'].map((content) => ({ role: 'user', content }));
  const { earlier } = await readConversation({ by: 'history' }, { messages, metadata: {}, headers: {} }, LONG_PARTS);
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
