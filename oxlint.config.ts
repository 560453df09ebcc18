// Lint rules. The table of floors is the architecture: a file may import its own room and any lower floor.
import { defineConfig } from 'oxlint';

/** Rooms by floor; see docs/ARCHITECTURE.md. A name with a dot is a file beside the rooms. */
const FLOORS: readonly (readonly string[])[] = [
  ['domain'],
  ['disk', 'log', 'service-manager', 'terminal', 'wire', 'workers', 'version.ts'],
  ['outbound', 'services'],
  ['store', 'files', 'catalog', 'agent', 'rendering'],
  ['events'],
  ['execution', 'webhooks', 'publishing', 'telemetry', 'retention', 'backups'],
  ['operations', 'client'],
  ['http', 'tui'],
  ['config'],
  ['doctor'],
  ['daemon', 'selftest'],
  ['cli'],
  ['browser', 'main.ts'],
];

/** What runs in a browser imports nothing but this. The build fails for what of it needs Node.js. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  browser: ['client', 'domain', 'terminal', 'tui/feed', 'tui/state', 'wire'],
};

/** Folders from `src/` to a file, at most. */
const MAX_DEPTH = 5;

const isFile = (room: string) => room.includes('.');
const up = (depth: number) => (depth === 0 ? './' : '../'.repeat(depth));

/** Stations of rooms by floor: folders whose files import one another downwards only. A room's own files wire them, or are shared. */
const STATIONS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  domain: [
    ['capabilities', 'charsets', 'publishing', 'retention', 'schedules'],
    ['people', 'sessions'],
    ['budgets', 'schema', 'webhooks'],
  ],
  store: [
    ['engine'],
    ['audit', 'journal', 'telemetry'],
    ['runs'],
    ['forks'],
    ['sessions'],
    ['artifacts', 'budgets', 'copies'],
    ['publishing'],
    ['firings'],
    ['lifecycle', 'office', 'webhooks'],
    ['people', 'retention', 'schedules'],
    ['inspection'],
  ],
  wire: [
    ['shapes'],
    ['capabilities', 'conversations', 'publishing', 'schedules', 'webhooks'],
    ['chat', 'messages', 'people', 'sessions'],
    ['backups', 'mcp', 'office'],
  ],
  files: [['blobs'], ['snapshots'], ['archives']],
  catalog: [['reading'], ['kinds']],
  agent: [
    ['port'],
    ['result', 'sandbox'],
    ['models'],
    ['tools'],
    ['documents'],
    ['conversation'],
    ['loop'],
    ['browser', 'mcp'],
    ['checks', 'packs'],
  ],
  execution: [['artifacts', 'broker'], ['brief'], ['pool'], ['checks', 'executor'], ['queue']],
  backups: [['repository'], ['archive']],
  operations: [
    ['audit'],
    ['backups', 'capabilities', 'publishing', 'sessions', 'webhooks'],
    ['office', 'turns'],
    ['people', 'schedules'],
  ],
  http: [
    ['body', 'replies'],
    ['server'],
    ['frame'],
    ['backups', 'conversations', 'files', 'management', 'webhooks'],
    ['mcp', 'public', 'sessions'],
    ['office', 'share'],
  ],
  tui: [
    ['text'],
    ['state', 'terminal', 'theme'],
    ['feed'],
    ['frame'],
    ['screen', 'transcript'],
    ['desk', 'floor', 'today'],
    ['app'],
  ],
  browser: [['page', 'reach'], ['desk', 'floor'], ['app']],
  cli: [['frame'], ['chat', 'support', 'terminal'], ['nouns']],
};

/** A rule for the files that a glob finds: none may import what the groups find. */
const refusing = (files: string, group: readonly string[]) => ({
  files: [files],
  rules: {
    'no-restricted-imports': [
      'error',
      { patterns: [{ group: [...group], message: 'Imports go down, never up or sideways.' }] },
    ] as const,
  },
});

/** Everything but these rooms and stations, and a room's own. */
function refusedBut(allowed: readonly string[], own: string): readonly string[] {
  return FLOORS.flat().flatMap((room) => {
    if (room === own || allowed.includes(room)) return [];
    const isPart = allowed.some((place) => place.startsWith(`${room}/`));
    if (!isPart) return [isFile(room) ? room : `${room}/**`];
    const stations = (STATIONS[room] ?? []).flat().filter((station) => !allowed.includes(`${room}/${station}`));
    return [`${room}/*.ts`, ...stations.map((station) => `${room}/${station}/**`)];
  });
}

/** What the files of a room that have the same depth must not import; a folder elsewhere may have the name of a room. */
const refusedRooms = (room: string, depth: number) => {
  const only = ONLY[room];
  if (only !== undefined) return refusedBut(only, room).map((other) => `${up(depth)}${other}`);
  const floor = FLOORS.findIndex((rooms) => rooms.includes(room));
  const beside = isFile(room) ? [] : (FLOORS[floor] ?? []).filter((other) => other !== room && !isFile(other));
  const refused = [...beside, ...FLOORS.slice(floor + 1).flat()];
  return refused.map((other) => `${up(depth)}${other}${isFile(other) ? '' : '/**'}`);
};

const floorsOfRooms = FLOORS.flat().flatMap((room) => {
  if (isFile(room)) return [refusing(`src/${room}`, refusedRooms(room, 0))];
  const depths = Array.from({ length: MAX_DEPTH }, (_, index) => index + 1);
  return depths.map((depth) => refusing(`src/${room}/${'*/'.repeat(depth - 1)}*`, refusedRooms(room, depth)));
});

/** They come after those of rooms, and take their place: both tables in one rule. */
const floorsOfStations = Object.entries(STATIONS).flatMap(([room, table]) =>
  table.flatMap((stations, floor) =>
    stations.flatMap((station) => {
      const refused = [...stations.filter((other) => other !== station), ...table.slice(floor + 1).flat()];
      const depths = Array.from({ length: MAX_DEPTH - 1 }, (_, index) => index + 2);
      return depths.map((depth) =>
        refusing(`src/${room}/${station}/${'*/'.repeat(depth - 2)}*`, [
          ...refusedRooms(room, depth),
          ...refused.map((other) => `${up(depth - 1)}${other}/**`),
        ]),
      );
    }),
  ),
);

const environment = [
  'error',
  { object: 'process', property: 'env', message: 'Only config/environment.ts reads the environment.' },
];
const exit = ['error', { object: 'process', property: 'exit', message: 'Only the first code of a process ends it.' }];
const head = ['setHeader', 'writeHead'].map((property) => ({
  property,
  message: 'Only replies/head.ts writes the head of a response.',
}));

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error' },
  options: { typeAware: true },
  rules: {
    // Types count too: what two files share belongs to the lower one.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'no-restricted-properties': [...environment, exit[1]] as never,
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-explicit-any': 'error',
    'max-params': ['error', { max: 4 }],
    'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
    'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    'no-await-in-loop': 'off',
    // Blind to what a closure changes.
    'no-unmodified-loop-condition': 'off',
    'no-shadow': 'off',
    'import/no-unassigned-import': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    // Verbs are closures, made to be taken out of their object.
    'typescript/unbound-method': 'off',
    // A row's type is named where its SELECT stands.
    'typescript/no-unnecessary-type-parameters': 'off',
    'promise/always-return': 'off',
  },
  overrides: [
    ...floorsOfRooms,
    ...floorsOfStations,
    {
      files: ['src/http/**'],
      excludeFiles: ['src/http/replies/head.ts'],
      rules: { 'no-restricted-properties': [...environment, exit[1], ...head] as never },
    },
    { files: ['src/config/environment.ts', 'test/**', 'scripts/**'], rules: { 'no-restricted-properties': 'off' } },
    // The first code of a process.
    {
      files: ['src/main.ts', 'src/workers/process-worker.ts'],
      rules: { 'no-restricted-properties': [...environment] as never },
    },
    {
      files: ['test/**', 'scripts/**'],
      // The official clients are used as their documentation shows them.
      rules: { 'max-lines-per-function': 'off', 'max-lines': 'off', 'import/no-named-as-default-member': 'off' },
    },
    { files: ['*.config.ts', 'src/agent/worker.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
});
