// The first code of the single executable: finds its files, or unpacks them, and starts the program.
import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script, constants } from 'node:vm';
import { findFiles } from './find-files.ts';
import { readContents } from './contents.ts';
import { placesOf } from './places.ts';
import { removeUnused } from './remove-unused.ts';

const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;

/** As of `node -e`: small programs are run by the sandbox of the browser and by tasks in processes of their own, which have no Node.js but this. */
function evaluate(script: string, args: readonly string[]): void {
  process.argv.splice(1, Infinity, ...args);
  const compiled = new Script(`(function (require, process) {${script}\n})`, { importModuleDynamically });
  (compiled.runInThisContext() as (require: NodeJS.Require, process: NodeJS.Process) => void)(
    createRequire('/'),
    process,
  );
}

function start(): void {
  const contents = readContents();
  const locations = placesOf(process.env, { home: homedir(), temporary: tmpdir(), uid: process.getuid!() });
  const found = findFiles(contents, locations);
  if (found.kind === 'none') {
    process.stderr.write(`errand: there is no directory for the files of this program.\n${found.reasons.join('\n')}\n`);
    process.stderr.write('Name one that programs can be loaded from, in ERRAND_CACHE_DIR.\n');
    process.exitCode = 78;
    return;
  }
  // Held open until the process ends: nobody removes a directory that a process has open.
  const held = openSync(found.directory, 'r');
  process.once('exit', () => closeSync(held));
  if (found.kind === 'unpacked') removeUnused(found.directory);
  process.argv[1] = process.execPath;
  const program = pathToFileURL(path.join(found.directory, 'dist/main.js')).href;
  const script = new Script(`import(${JSON.stringify(program)})`, { importModuleDynamically });
  void (script.runInThisContext() as Promise<unknown>);
}

if (process.argv[2] === '-e') evaluate(process.argv[3] ?? '', process.argv.slice(process.argv[4] === '--' ? 5 : 4));
else start();
