// Reads one YAML file of the config directory strictly, and says where each problem is.
import path from 'node:path';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { MB } from '../../domain/byte-units.ts';
import { messageOf } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import { inOrder, type Problem } from './problem.ts';
import { readSmallFile } from './read-small-file.ts';
import { misfits } from './misfits.ts';
import type { Schema } from './schema.ts';

export const MAX_YAML_BYTES = MB;
const MAX_ALIASES = 100;
// Locating each takes time, and no one reads more.
const MAX_PROBLEMS = 50;

/** The content of a file. With problems, `value` is what could be read, and may not match the schema. */
export interface YamlFile {
  /** The top-level map; empty when the file is missing, unreadable or all comments. */
  readonly value: JsonObject;
  readonly problems: readonly Problem[];
  /** A problem with the key or value at a path, placed at the deepest part of the path that exists in the file. */
  problemAt(path: readonly string[], message: string, place?: 'key' | 'value'): Problem;
}

type Fault = { readonly offset: number; readonly message: string };

/** Only the first fault: after it, most of what the parser reports follows from that one. */
function syntaxFaults(doc: Document.Parsed): Fault[] {
  const faults = [...doc.errors, ...doc.warnings].map((fault) => ({
    offset: fault.pos[0],
    message: fault.code === 'RESOURCE_EXHAUSTION' ? 'is nested too deeply' : fault.message,
  }));
  const exhausted = faults.find((fault) => fault.message === 'is nested too deeply');
  const first = exhausted ?? faults.sort((a, b) => a.offset - b.offset)[0];
  return first === undefined ? [] : [first];
}

/** Duplicate keys and unresolved aliases. The parser's own check of keys takes quadratic time. */
function structureFaults(doc: Document.Parsed): Fault[] {
  const faults: Fault[] = [];
  let aliases = 0;
  visit(doc, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const offset = (key as Node | null)?.range?.[0] ?? 0;
        if (!isScalar(key)) faults.push({ offset, message: 'a key must be plain text' });
        else if (seen.has(String(key.value)))
          faults.push({ offset, message: `${String(key.value)}: is a duplicate key` });
        else seen.add(String(key.value));
      }
    },
    Alias(_, alias) {
      aliases += 1;
      const offset = alias.range?.[0] ?? 0;
      if (aliases > MAX_ALIASES) {
        faults.push({ offset, message: `has more than ${MAX_ALIASES} aliases` });
        return visit.BREAK;
      }
      if (alias.resolve(doc) === undefined)
        faults.push({ offset, message: `*${alias.source}: refers to an anchor that does not exist` });
      return undefined;
    },
  });
  return faults;
}

/** The entry of a map or list, with an alias in the container's place followed; `offset` is that of its key. */
function entryOf(
  doc: Document.Parsed,
  container: unknown,
  part: string,
): { offset: number; value: unknown } | undefined {
  const node = isAlias(container) ? container.resolve(doc) : container;
  if (isSeq(node)) {
    const value = node.items[Number(part)] as Node | undefined;
    return value === undefined ? undefined : { offset: value.range?.[0] ?? 0, value };
  }
  const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === part) : undefined;
  return pair === undefined ? undefined : { offset: (pair.key as Node).range?.[0] ?? 0, value: pair.value };
}

/** Where a path ends in the text; if the file does not go that far, at the deepest key that exists. */
function offsetOf(doc: Document.Parsed, path: readonly string[], place: 'key' | 'value'): number {
  let value: unknown = doc.contents;
  let offset = doc.contents?.range[0] ?? 0;
  for (const part of path) {
    const entry = entryOf(doc, value, part);
    if (entry === undefined) return offset;
    ({ offset, value } = entry);
  }
  const range = (value as Node | null)?.range;
  // A key without a value has an empty one right after it; the key is the better place to point to.
  return place === 'value' && range && range[1] > range[0] ? range[0] : offset;
}

function parse(source: string, lines: LineCounter): { doc: Document.Parsed; value: unknown; faults: Fault[] } {
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const;
  const doc = parseDocument(source, options);
  const faults = syntaxFaults(doc);
  if (faults.length === 0) faults.push(...structureFaults(doc));
  if (faults.length > 0) return { doc, value: null, faults };
  try {
    return { doc, value: doc.toJS({ maxAliasCount: MAX_ALIASES }), faults };
  } catch (error) {
    return { doc, value: null, faults: [{ offset: 0, message: messageOf(error) }] };
  }
}

/** The text of a file, or of the part of it that is YAML. */
export interface YamlSource {
  /** Its name, as problems show it. */
  readonly file: string;
  readonly text: string;
  /** How many lines of the file come before the text. */
  readonly linesBefore: number;
}

/** Checks YAML against a schema: syntax, duplicate keys, unknown keys, wrong types. Problems are in order (J2). */
export function readYamlText({ file, text, linesBefore }: YamlSource, schema: Schema): YamlFile {
  const lines = new LineCounter();
  const { doc, value, faults } = parse(text, lines);
  const at = (offset: number, message: string): Problem => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line) + linesBefore, column: Math.max(1, col), message };
  };
  const problemAt: YamlFile['problemAt'] = (path, message, place = 'value') =>
    at(offsetOf(doc, path, place), path.length === 0 ? message : `${path.join('.')}: ${message}`);
  const wrong = faults.length > 0 ? [] : misfits(schema, value);
  const problems = [
    ...faults.slice(0, MAX_PROBLEMS).map((fault) => at(fault.offset, fault.message)),
    ...wrong.slice(0, MAX_PROBLEMS).map((misfit) => problemAt(misfit.path, misfit.message, misfit.place)),
  ];
  const unlisted = faults.length + wrong.length - problems.length;
  if (unlisted > 0) problems.push(at(text.length, `and ${unlisted} more problems`));
  return { value: isJsonObject(value) ? value : {}, problems: inOrder(problems), problemAt };
}

/** A file without text: every problem concerns the whole file, or its first line. */
export function emptyYamlFile(file: string, why: string | null): YamlFile {
  return {
    value: {},
    problems: why === null ? [] : [{ file, line: null, column: null, message: why }],
    problemAt: (path, message) => ({
      file,
      line: 1,
      column: 1,
      message: path.length === 0 ? message : `${path.join('.')}: ${message}`,
    }),
  };
}

/** Reads `<directory>/<name>` as `readYamlText` does. A missing file counts as empty; an unreadable one is a problem. */
export function readYamlFile(directory: string, name: string, schema: Schema): YamlFile {
  const read = readSmallFile(path.join(directory, name), MAX_YAML_BYTES);
  if (read.kind === 'missing') return emptyYamlFile(name, null);
  if (read.kind === 'unreadable') return emptyYamlFile(name, read.why);
  return readYamlText({ file: name, text: read.text, linesBefore: 0 }, schema);
}
