// Requests beside a conversation, as clients send them.
import { expect, test } from 'vitest';
import { isSideRequest } from '../../../../src/domain/sessions/continued/side-requests.ts';

const asks = (first: string, last = first, isAnswered = false) => isSideRequest({ first, last, isAnswered });

test.each([
  ['Open WebUI', '### Task:\nSuggest three follow-ups.\n### Chat History:\n<chat_history>\nUSER: hi\n</chat_history>'],
  ['Open WebUI', '### Task:\nName the chat.\n### Output:\nJSON format: { "title": "..." }'],
  ['LibreChat', 'Provide a concise, 5-word-or-less title for the conversation, in its language.\n\nUser: hi'],
  ['Claude Code', '[SUGGESTION MODE: What may the user type next?]'],
  ['Claude Code', '<session>\nWhat are tides?\n</session>\n\nWrite the title in its language.'],
  ['Claude Code', 'The user stepped away and is coming back. Say where they were.'],
  ['qwen-code', 'Managed memory has TWO directories. Choose one.'],
  ['qwen-code', 'Generate the session title now. In three words.'],
  ['qwen-code', 'Generate the recap now. In one line.'],
])('of %s', { tags: ['M1-aside'] }, (_, text) => {
  expect(asks(text)).toBe(true);
  expect(asks('hi', text)).toBe(true);
});

test('opencode begins the conversation with its request, and ends it with what the user said', {
  tags: ['M1-aside'],
}, () => {
  expect(asks('Generate a title for this conversation:\n', 'What are tides?')).toBe(true);
});

test('people may speak of tasks and titles', { tags: ['M1-aside'] }, () => {
  for (const text of [
    '### Task:\nWrite a poem.',
    '### Task:\nTranslate.\n### Output:\nplain text',
    // What Open WebUI makes of a question about documents.
    '### Task:\nRespond to the user query using the provided context.\n\n### Output:\nProvide a clear and direct response.\n\n<context>\n</context>',
    'Please generate a title for this conversation: tides',
    '<session>\nWhat is this?\n</session>',
    '',
  ])
    expect(asks(text)).toBe(false);
});

test("a conversation that begins like one of Open WebUI's requests goes on", { tags: ['M1-aside'] }, () => {
  const text = '### Task:\nSum up.\n<chat_history>\nUSER: hi\n</chat_history>';
  expect(asks(text, 'And shorter?', true)).toBe(false);
  expect(asks('hi', '[SUGGESTION MODE: What may the user type next?]', true)).toBe(true);
});
