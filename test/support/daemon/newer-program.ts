// A newer version of the program, as a rolling upgrade meets it: another version number, and a migration more that the version before goes on with.
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { type Of, temporaryDirectory } from '../files/temporary-directory.ts';

export const NEWER_VERSION = '99.0.0';
const ROOT = join(import.meta.dirname, '../../..');
/** The end of the list of migrations, as it is in the bundle. */
const END_OF_MIGRATIONS = /\n\];\n(?=var MIGRATIONS = )/;
const EXPANSION = { sql: 'ALTER TABLE worker_nodes ADD COLUMN added_later INTEGER;', runsWith: SCHEMA_VERSION };

/** Makes it of what is built. Returns the path of its command. */
export function makeNewerProgram(of: Of): string {
  const root = join(temporaryDirectory({}, of), 'newer');
  mkdirSync(root);
  for (const name of ['bin', 'dist', 'config', 'package.json'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const change = (path: string, by: (text: string) => string) => {
    const file = join(root, path);
    const text = readFileSync(file, 'utf8');
    const changed = by(text);
    if (changed !== text) writeFileSync(file, changed);
    return changed !== text;
  };
  change('package.json', (text) => JSON.stringify({ ...(JSON.parse(text) as object), version: NEWER_VERSION }));
  const migration = `,\n${JSON.stringify(EXPANSION)}];\n`;
  const chunks = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const withOne = chunks.filter((name) =>
    change(join('dist', name), (text) => text.replace(END_OF_MIGRATIONS, migration)),
  );
  if (withOne.length === 0) throw new Error('no list of migrations is found in dist/');
  return join(root, 'bin', 'errand');
}
