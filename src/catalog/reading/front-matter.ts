// Reads a Markdown file that begins with YAML between two lines of three dashes.
import path from 'node:path';
import { KB } from '../../domain/byte-units.ts';
import { FENCE, splitFrontMatter } from '../../domain/front-matter.ts';
import { readSmallFile } from './read-small-file.ts';
import type { Schema } from './schema.ts';
import { emptyYamlFile, readYamlText, type YamlFile } from './yaml-file.ts';

/** Largest file, instructions and all. */
const MAX_BYTES = 256 * KB;

/** The front matter, and the text below it without surrounding white space. */
export interface FrontMatterFile extends YamlFile {
  readonly body: string;
}

/** Reads `<directory>/<name>`. A missing or unreadable file, or one without front matter, has a problem. Positions are those of the file. */
export function readFrontMatterFile(directory: string, name: string, schema: Schema): FrontMatterFile {
  const read = readSmallFile(path.join(directory, name), MAX_BYTES);
  if (read.kind !== 'text') {
    return { ...emptyYamlFile(name, read.kind === 'missing' ? 'is missing' : read.why), body: '' };
  }
  const split = splitFrontMatter(read.text);
  if (split === null) {
    const empty = emptyYamlFile(name, null);
    const message = `must begin with front matter: a line ${FENCE}, keys and values, and another line ${FENCE}`;
    return { ...empty, problems: [empty.problemAt([], message)], body: '' };
  }
  const source = { file: name, text: split.yaml, linesBefore: 1 };
  return { ...readYamlText(source, schema), body: split.body };
}
