// How sessions of a key are found: what administrators may write.
import { expect, test } from 'vitest';
import { continueByOf } from '../../../../src/domain/sessions/continued/continue-by.ts';

test.each([
  ['history', { by: 'history' }],
  ['never', { by: 'never' }],
  ['header:X-OpenWebUI-Chat-Id', { by: 'header', field: 'x-openwebui-chat-id' }],
  ['metadata:user_id', { by: 'metadata', field: 'user_id' }],
])('%s', { tags: ['M1-key'] }, (text, by) => {
  expect(continueByOf(text)).toEqual(by);
});

test.each([
  'none',
  'header:',
  'header:a b',
  'header:Authorization',
  'header:X-Session-Id',
  'header:Content-Type',
  'metadata:session_id',
  `header:${'x'.repeat(65)}`,
  'history:2',
])('%s means something else, or nothing', { tags: ['M1-key'] }, (text) => {
  expect(continueByOf(text)).toBeUndefined();
});
