// The version of this Errand, from its package.
import { readFileSync } from 'node:fs';

const packageFile = new URL('../package.json', import.meta.url);

export const VERSION = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }).version;
