import { expect, test } from 'vitest';
import { waitFor } from './wait-for.ts';

test('the first true value is answered', async () => {
  let asked = 0;
  const value = await waitFor(() => {
    asked += 1;
    return asked === 3 ? `at ${asked}` : undefined;
  });
  expect(value).toBe('at 3');
});

test('zero and the empty text are values', async () => {
  expect(await waitFor(() => 0)).toBe(0);
  expect(await waitFor(() => Promise.resolve(''))).toBe('');
});

test('a condition that throws is asked again', async () => {
  let asked = 0;
  const value = await waitFor(() => {
    asked += 1;
    if (asked < 3) throw new Error('not yet');
    return asked;
  });
  expect(value).toBe(3);
});

test('what never becomes true fails with its name and the last error', async () => {
  const cause = new Error('the door is closed');
  const never = waitFor(
    () => {
      throw cause;
    },
    { timeoutMs: 30, what: 'an open door' },
  );
  await expect(never).rejects.toMatchObject({ message: 'Not true within 30 ms: an open door', cause });
});
