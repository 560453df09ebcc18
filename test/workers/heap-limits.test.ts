// The heap of a thread: what it was given, whatever the main thread has.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('a thread has its own limit, not the one that the launcher gives to the main thread', () => {
  const file = fileURLToPath(new URL('heap-limits-main.ts', import.meta.url));
  const flags = ['--max-semi-space-size=4', '--max-old-space-size=1024'];
  const said = execFileSync(process.execPath, [...flags, file], { encoding: 'utf8' });
  const { own, ofThread } = JSON.parse(said) as Record<'own' | 'ofThread', number>;
  expect(own).toBeGreaterThan(1_000);
  expect(ofThread).toBeLessThan(100);
});
