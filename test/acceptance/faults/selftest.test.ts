// `errand selftest` with the real program: short here; operators let it run for two minutes.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runErrand } from '../../support/daemon/daemon-process.ts';

test('a scratch copy that is killed keeps every promise, and nothing is left of it', async () => {
  const { stdout } = await runErrand(['selftest', '--minutes', '0.1', '-o', 'json']);
  const result = JSON.parse(stdout) as {
    ok: boolean;
    kills: number;
    kept: string | null;
    promises: { promise: string; problems: string[] }[];
  };
  expect(result.promises.flatMap(({ problems }) => problems)).toEqual([]);
  expect(result).toMatchObject({ ok: true, kept: null });
  expect(result.kills).toBeGreaterThan(0);
  expect(result.promises.map(({ promise }) => promise)).toContain('accepted');
  expect(existsSync(result.kept ?? '')).toBe(false);
});
