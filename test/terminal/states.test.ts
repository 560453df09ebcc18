// The looks of states.
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { RUN_STATUSES } from '../../src/domain/sessions/run.ts';
import { SESSION_STATUSES } from '../../src/domain/sessions/session.ts';
import { stateStyleOf } from '../../src/terminal/states.ts';

test.each([...RUN_STATUSES, ...SESSION_STATUSES])('%s has a glyph one column wide', (status) => {
  const { glyph } = stateStyleOf(status);
  expect(glyph.trim()).not.toBe('');
  expect(stringWidth(glyph)).toBe(1);
});

test('what runs, what failed and what waits for its user differ without colours', () => {
  expect(
    new Set(['running', 'failed', 'waiting', 'completed', 'queued', 'canceled'].map((w) => stateStyleOf(w).glyph)).size,
  ).toBe(6);
});

test('an unknown word has no look', () => {
  expect(stateStyleOf('constructor')).toEqual({ glyph: ' ', style: undefined });
});
