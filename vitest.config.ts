import { defineConfig } from 'vitest/config';
import { readRules } from './scripts/rules/rules.ts';
import { useMemoryDirectory } from './test/support/files/memory-directory.ts';
import { canRunPostgres } from './test/support/postgres/programs.ts';

const slow = ['test/acceptance/**/*.test.ts'];
/** Of the store, what is about SQLite: its file, its plans, its own statements; or starts both engines itself. All else is tested on both. */
const onSqlite = [
  'test/store/engine/sqlite/**',
  'test/store/engine/{portable-sql,quick-conditions,row,steps}.test.ts',
  'test/store/copies/copy-store.test.ts',
  'test/store/{longest-verbs,query-plans,trouble}.test.ts',
  'test/store/inspection/{inspect,named-blobs}.test.ts',
  'test/store/sessions/counted-sessions.test.ts',
  'test/store/webhooks/delivery-lists.test.ts',
];
/** What people do through the daemon, once more with its rows on PostgreSQL: a part for the whole. */
const acceptedOnBoth = [
  'test/acceptance/administration/nodes.test.ts',
  'test/acceptance/conversations/{agent-core,background,delete,questions,responses,stop}.test.ts',
  'test/acceptance/office/office.test.ts',
  'test/acceptance/publishing/{managing-pages,public-pages,public-shares}.test.ts',
  'test/acceptance/schedules/schedules.test.ts',
  'test/acceptance/webhooks/webhooks.test.ts',
];
const onPostgres = ['test/store/engine/postgres/**/*.test.ts', 'test/daemon/peers/*.test.ts'];

/**
 * What has a process of its own: replaces modules or whom the process trusts, needs the flags that the program is started with, or
 * measures turns of the event loop, which garbage of others would make longer.
 */
const alone = [
  'test/agent/browser/run-browser.test.ts',
  'test/agent/tools/search-files.test.ts',
  'test/daemon/longest-services.test.ts',
  'test/disk/beneath.test.ts',
  'test/execution/artifacts/removal/sweeper.test.ts',
  'test/http/longest-routes.test.ts',
  'test/store/longest-verbs.test.ts',
  'test/store/engine/sqlite/commits/log-sync.test.ts',
  'test/webhooks/attempt.test.ts',
];

const projectsOnPostgres = [
  {
    extends: true as const,
    test: {
      name: 'postgres',
      // The files of a worker share its modules and connections: each opens stores of its own.
      isolate: false,
      include: ['test/store/**/*.test.ts', ...onPostgres],
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
      include: ['test/acceptance/postgres/**/*.test.ts', ...acceptedOnBoth],
      pool: 'forks' as const,
      isolate: false,
      env: { ERRAND_TEST_ENGINE: 'postgres' },
      globalSetup: ['test/support/postgres/shared-cluster.ts', 'test/support/postgres/initialized.ts'],
    },
  },
];

useMemoryDirectory();

export default defineConfig({
  test: {
    // For two cores, the smallest machine we promise to test on: many tests wait more than they work.
    maxWorkers: 5,
    // A test has the rules that it proves as tags.
    tags: readRules().flatMap(({ rules }) => rules.map(({ id, text }) => ({ name: id, description: text }))),
    globalSetup: 'test/support/compiled-code.ts',
    // Ends what hangs, and nothing that is slow: the machine may be busy.
    setupFiles: ['test/support/http/hold-replies.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    unstubEnvs: true,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...slow, ...onPostgres, ...alone],
          pool: 'forks',
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: alone, pool: 'forks' } },
      {
        extends: true,
        // The files of a worker share its modules: to load them again for each would take as long as the tests do.
        test: {
          name: 'acceptance',
          include: slow,
          exclude: ['test/acceptance/postgres/**'],
          pool: 'forks',
          isolate: false,
          globalSetup: 'test/support/daemon/initialized.ts',
        },
      },
      ...(canRunPostgres() ? projectsOnPostgres : []),
    ],
  },
});
