// Writes the description of the interface: `npm run openapi [-- FILE]`, to dist/openapi.json when no file is named.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describeInterface } from './describe.ts';

const [file = path.join(import.meta.dirname, '../../dist/openapi.json')] = process.argv.slice(2);
await mkdir(path.dirname(file), { recursive: true });
await writeFile(file, describeInterface());
