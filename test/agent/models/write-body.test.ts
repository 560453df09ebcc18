// The bytes of a request's body.
import { expect, test } from 'vitest';
import { writeBody } from '../../../src/agent/models/write-body.ts';

const TOOLS = [{ name: 'get_tides', description: 'Ebbe für „Brest“ 🌊' }];

test.each([
  ['with tools, before and after other fields', { model: 'm', tools: TOOLS, messages: ['größer 🌊'], stream: true }],
  ['with the same tools again', { model: 'other', tools: TOOLS }],
  ['without tools', { model: 'm', messages: [] }],
  ['with no tools', { model: 'm', tools: [] }],
  ['with nothing but tools', { tools: TOOLS }],
  ['with tools in a form of its own', { model: 'm', tools: { none: true } }],
])('a body %s says what it is made of', (_what, body) => {
  expect(JSON.parse(writeBody(body).toString())).toEqual(body);
});
