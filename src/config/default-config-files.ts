// The commented files that a new config directory starts with.
import { readFileSync } from 'node:fs';

/** A file by its name in the config directory. */
export interface DefaultFile {
  readonly name: string;
  readonly text: string;
}

const NAMES = ['errand.yaml', 'models.yaml', 'mcp-servers.yaml', 'connectors.yaml'] as const;

/** The files that `errand init` writes where they are missing (K5). In the package, they are next to `src` and `dist`. */
export function defaultConfigFiles(): readonly DefaultFile[] {
  return NAMES.map((name) => ({ name, text: readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8') }));
}
