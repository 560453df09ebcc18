// What the readers of definitions share: names, where to look, what was found and where each part of it is.
import { type Dirent, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import type { Problem } from './problem.ts';
import { list, MAX_NAMES, type Naming, type Schema, text } from './schema.ts';
import type { SecretLocations } from './secret-file.ts';
import type { YamlFile } from './yaml-file.ts';

const NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Names of definitions, as in the Agent Skills format. */
export const NAMING: Naming = {
  pattern: NAME.source,
  mustBe: 'must be a name: up to 64 characters of a-z and 0-9, with single hyphens between them',
};

/** Names and values of HTTP headers. */
export const HEADER_NAMING: Naming = {
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$",
  mustBe: 'must be the name of an HTTP header',
};
export const HEADER_VALUE: Schema = text('one line of printable ASCII', (given) => /^[\x20-\x7e]*$/.test(given));

/** Where definitions are read: the config directory, or the folder of a plugin in it. */
export interface Scope extends SecretLocations {
  /** The plugin; null for the config directory itself. */
  readonly plugin: string | null;
  /** Its folder relative to the config directory, with a slash at its end; empty for the directory itself. */
  readonly prefix: string;
}

/** A definition whose references are not resolved yet, and where it is in its file. */
export interface Located<T> {
  readonly thing: T;
  readonly source: YamlFile;
  readonly at: readonly string[];
  /** Problems that affect only this definition: what others have made is left out, and the rest is applied. */
  readonly faults?: readonly Problem[];
}

/** What a reader has found. With problems, it is what could be read. */
export interface Reading<T> {
  readonly found: readonly Located<T>[];
  readonly problems: readonly Problem[];
  /** Whether some names could not be read, so that no reference counts as wrong. */
  readonly isPartial?: boolean;
}

/** Whether a fault kept everything in a file from being read. */
export const isUnread = ({ value, problems }: YamlFile): boolean =>
  problems.length > 0 && Object.keys(value).length === 0;

/** The full name of a definition in a scope. */
export function fullName({ plugin }: Scope, name: string): string {
  return plugin === null ? name : `${plugin}:${name}`;
}

/** One name in a folder. Whoever reads it decides whether a link is followed. */
export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly isLink: boolean;
}

/** The content of a folder in the config directory, sorted by name, without hidden names. A missing folder is empty. */
export function listFolder(
  configDir: string,
  folder: string,
): { readonly entries: readonly FolderEntry[]; readonly problems: readonly Problem[] } {
  const problem = (message: string): Problem => ({ file: folder, line: null, column: null, message });
  let found: Dirent[];
  try {
    found = readdirSync(path.join(configDir, folder), { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { entries: [], problems: [] };
    return { entries: [], problems: [problem(code === 'ENOTDIR' ? 'must be a folder' : `cannot be read: ${code}`)] };
  }
  const visible = found.filter(({ name }) => !name.startsWith('.')).sort((a, b) => (a.name < b.name ? -1 : 1));
  const problems = visible.length > MAX_NAMES ? [problem(`contains more than ${MAX_NAMES} entries`)] : [];
  const entries = visible.slice(0, MAX_NAMES).map((entry) => ({
    name: entry.name,
    isLink: entry.isSymbolicLink(),
    isFolder: entry.isSymbolicLink() ? leadsToFolder(path.join(configDir, folder, entry.name)) : entry.isDirectory(),
  }));
  return { entries, problems };
}

/** Not a link that leads nowhere, such as to itself, or where the daemon may not look. */
function leadsToFolder(link: string): boolean {
  try {
    return statSync(link).isDirectory();
  } catch {
    return false;
  }
}

/** The problem of a link in place of a folder: what it points to is not watched, and not mounted. */
export function linkProblem(file: string): Problem {
  return {
    file,
    line: null,
    column: null,
    message: 'is a link, and links are not followed here: replace it with what it points to',
  };
}

/** The problem of a file or folder whose name is invalid; empty if it is valid. */
export function nameProblems(file: string, name: string): Problem[] {
  return NAME.test(name) ? [] : [{ file, line: null, column: null, message: `${NAMING.mustBe}, not "${name}"` }];
}

const isFilled = (value: string) => value.trim() !== '';

/** Text that is not blank, of at most a number of characters. */
export function words(what: string, max: number): Schema {
  return text(`${what}, at most ${max} characters`, (value) => isFilled(value) && value.length <= max);
}

/** What a definition is for, for agents and operators. */
export const DESCRIPTION: Schema = words('a description', 1024);

/** A list of names of other definitions. */
export function names(of: string): Schema {
  return list(text(`the name of ${of}`, isFilled), 'names');
}

/** The value if it is a map, else an empty one. */
export function mapOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The texts of a list; empty when it is not a list. */
export function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The text, or a fallback when it is not text. */
export function textOr<F>(value: JsonValue | undefined, fallback: F): string | F {
  return typeof value === 'string' ? value : fallback;
}

/** A map of texts; other values are left out. */
export function textMapOf(value: JsonValue | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(mapOf(value)).filter(([, item]) => typeof item === 'string')) as Record<
    string,
    string
  >;
}
