import { defineConfig } from 'vitest/config';
import { readRules } from './scripts/rules/rules.ts';
import { canRunPostgres } from './test/support/postgres/programs.ts';

const slow = ['test/acceptance/**/*.test.ts'];
/** Of the store, what is about SQLite: its file, its plans, its own statements. All else is tested on both engines. */
const onSqlite = [
  'test/store/engine/sqlite/**',
  'test/store/engine/{portable-sql,quick-conditions,row,steps}.test.ts',
  'test/store/{longest-verbs,query-plans,trouble}.test.ts',
  'test/store/inspection/{inspect,named-blobs}.test.ts',
  'test/store/sessions/counted-sessions.test.ts',
  'test/store/webhooks/delivery-lists.test.ts',
];
/** Tests of the store that pass on both engines. */
const onBoth = [
  'test/store/{accounts,artifacts,background,find-ids,structured-runs,worker-nodes}.test.ts',
  'test/store/engine/lists.test.ts',
  'test/store/firings/follow-runs.test.ts',
  'test/store/inspection/disk-samples.test.ts',
  'test/store/journal/{events,whole-rows}.test.ts',
  'test/store/lifecycle/start-run.test.ts',
  'test/store/office/today.test.ts',
  'test/store/people/{connections,definition-ids,pins,signing-keys,users}.test.ts',
  'test/store/publishing/{board,page-limits}.test.ts',
  'test/store/retention/remove-firings.test.ts',
  'test/store/runs/{prompt-size,run-records,run-setups,run-timeline,work-time}.test.ts',
  'test/store/schedules/{fire,tasks}.test.ts',
  'test/store/sessions/{cleanups,compactions,insights,session-records}.test.ts',
  'test/store/webhooks/{announced-stops,deliveries,planning,read-events,webhooks}.test.ts',
];
const onPostgres = ['test/store/engine/postgres/**/*.test.ts'];

const projectsOnPostgres = [
  {
    extends: true as const,
    test: {
      name: 'postgres',
      include: [...onPostgres, ...onBoth],
      exclude: onSqlite,
      pool: 'forks' as const,
      env: { ERRAND_TEST_ENGINE: 'postgres' },
      globalSetup: 'test/support/postgres/shared-cluster.ts',
    },
  },
  {
    extends: true as const,
    test: {
      name: 'acceptance-postgres',
      include: ['test/acceptance/postgres/**/*.test.ts'],
      pool: 'forks' as const,
      testTimeout: 240_000,
      env: { ERRAND_TEST_ENGINE: 'postgres' },
      globalSetup: ['test/support/postgres/shared-cluster.ts', 'test/support/postgres/initialized.ts'],
    },
  },
];

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
      {
        extends: true,
        test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: [...slow, ...onPostgres], pool: 'forks' },
      },
      {
        extends: true,
        test: {
          name: 'acceptance',
          include: slow,
          exclude: ['test/acceptance/postgres/**'],
          pool: 'forks',
          testTimeout: 240_000,
          globalSetup: 'test/support/daemon/initialized.ts',
        },
      },
      ...(canRunPostgres() ? projectsOnPostgres : []),
    ],
  },
});
