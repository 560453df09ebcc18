// The commented files that a new config directory begins with.
import { readFileSync } from 'node:fs';

/** A file by its name in the config directory. */
export interface DefaultFile {
  readonly name: string;
  readonly text: string;
}

const NAMES = ['errand.yaml', 'models.yaml', 'mcp-servers.yaml', 'connectors.yaml'] as const;

/** The files `errand init` writes where they are absent (K5). They lie beside `src` and `dist` in the package. */
export function defaultConfigFiles(): readonly DefaultFile[] {
  return NAMES.map((name) => ({ name, text: readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8') }));
}
