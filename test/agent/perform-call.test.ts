// What the model is given back of a tool call.
import { expect, test } from 'vitest';
import { capOutput, MAX_OUTPUT_CHARACTERS } from '../../src/agent/perform-call.ts';

test('a long output keeps its start and its end and says how much is missing', () => {
  const output = `start${'x'.repeat(100_000)}end`;
  const capped = capOutput(output);
  expect(capped.length).toBeLessThan(MAX_OUTPUT_CHARACTERS + 100);
  expect(capped.startsWith('start')).toBe(true);
  expect(capped.endsWith('end')).toBe(true);
  expect(capped).toContain(`${output.length - MAX_OUTPUT_CHARACTERS} characters left out`);
});

test('an output is always fit to keep', () => {
  const capped = capOutput(`a\u0000b\uD800${'😀'.repeat(20_000)}`);
  expect(capped).not.toContain('\u0000');
  expect(capped.isWellFormed()).toBe(true);
});
