// Writes docs/openapi.json from the table of routes: `npm run openapi [-- --check]`. Ends with 1 when, with --check, it is
// out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeRoutes } from '../../src/http/openapi.ts';
import { makeRoutes, type RouteParts } from '../../src/http/routes.ts';
import { VERSION } from '../../src/version.ts';

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const file = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));

// Describes the table; no handler is called.
const nothing = {
  operations: {},
  conversations: {},
  officeStreams: {},
  runs: {},
} as unknown as RouteParts;
const text = `${JSON.stringify(describeRoutes(makeRoutes(nothing), VERSION), null, 2)}\n`;

if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
  if (options.check) {
    process.stderr.write('docs/openapi.json is out of date: npm run openapi\n');
    process.exitCode = 1;
  } else await writeFile(file, text);
}
