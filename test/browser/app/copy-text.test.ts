import { expect, test, vi } from 'vitest';
import { copyText } from '../../../src/browser/app/copy-text.ts';

test('a text is copied', async () => {
  const writeText = vi.fn(async () => undefined);
  expect(await copyText({ writeText }, 'an id')).toBe(true);
  expect(writeText).toHaveBeenCalledWith('an id');
});

test('a browser without a clipboard, and one that refuses, do not copy', async () => {
  expect(await copyText(undefined, 'an id')).toBe(false);
  expect(await copyText({ writeText: () => Promise.reject(new Error('No.')) }, 'an id')).toBe(false);
});
