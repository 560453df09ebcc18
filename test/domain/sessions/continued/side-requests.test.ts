// Requests beside a conversation, as clients send them.
import { expect, test } from 'vitest';
import { isSideRequest } from '../../../../src/domain/sessions/continued/side-requests.ts';

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
  expect(isSideRequest(text, text)).toBe(true);
  expect(isSideRequest('hi', text)).toBe(true);
});

test('opencode begins the conversation with its request, and ends it with what the user said', {
  tags: ['M1-aside'],
}, () => {
  expect(isSideRequest('Generate a title for this conversation:\n', 'What are tides?')).toBe(true);
});

test('people may speak of tasks and titles', { tags: ['M1-aside'] }, () => {
  for (const text of [
    '### Task:\nWrite a poem.',
    'Please generate a title for this conversation: tides',
    '<session>\nWhat is this?\n</session>',
    '',
  ])
    expect(isSideRequest(text, text)).toBe(false);
});
