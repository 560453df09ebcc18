import { defineConfig } from 'vitest/config';
import { readRules } from './scripts/rules/rules.ts';

const slow = ['test/acceptance/**/*.test.ts'];

export default defineConfig({
  test: {
    // For two cores, the smallest machine we promise to test on: many tests wait more than they work.
    maxWorkers: 4,
    // A test has the rules that it proves as tags.
    tags: readRules().flatMap(({ rules }) => rules.map(({ id, text }) => ({ name: id, description: text }))),
    // Ends what hangs, and nothing that is slow: the machine may be busy.
    setupFiles: ['test/support/http/hold-replies.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: slow, pool: 'forks' } },
      {
        extends: true,
        test: {
          name: 'acceptance',
          include: slow,
          pool: 'forks',
          testTimeout: 240_000,
          globalSetup: 'test/support/daemon/initialized.ts',
        },
      },
    ],
  },
});
