import { defineConfig } from 'vitest/config';

const slow = ['test/acceptance/**/*.test.ts'];

export default defineConfig({
  test: {
    // Two cores are the smallest machine we promise to test on.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: slow, pool: 'forks' } },
      {
        extends: true,
        test: { name: 'acceptance', include: slow, pool: 'forks', testTimeout: 60_000, fileParallelism: true },
      },
    ],
  },
});
