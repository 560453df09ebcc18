import { afterEach, expect, test, vi } from 'vitest';
import { copyText } from '../../../src/browser/app/copy-text.ts';

afterEach(() => void vi.unstubAllGlobals());

test('a text is copied', async () => {
  const writeText = vi.fn(async () => undefined);
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  expect(await copyText('an id')).toBe(true);
  expect(writeText).toHaveBeenCalledWith('an id');
});

test('a browser without a clipboard, and one that refuses, do not copy', async () => {
  vi.stubGlobal('navigator', {});
  expect(await copyText('an id')).toBe(false);
  vi.stubGlobal('navigator', { clipboard: { writeText: () => Promise.reject(new Error('No.')) } });
  expect(await copyText('an id')).toBe(false);
});
