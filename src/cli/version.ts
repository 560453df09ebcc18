// The version of this program.
import { readFileSync } from 'node:fs';

/** The version in package.json, which lies two levels up both in the sources and when built. */
export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as unknown;
  return (manifest as { readonly version: string }).version;
}
