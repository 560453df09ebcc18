// What an agent does right now, in a few words: made of the events of its run (G15).
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';

/** Verbs for the built-in tools, and the most telling arguments. Other tools show as `name: first argument`. */
const TOOLS: Readonly<Record<string, readonly [verb: string, argument: string]>> = {
  shell: ['shell:', 'command'],
  read_file: ['reads', 'path'],
  write_file: ['writes', 'path'],
  edit_file: ['edits', 'path'],
  list_files: ['lists', 'path'],
  search_files: ['searches', 'pattern'],
  web_fetch: ['fetches', 'url'],
};

const MAX_CHARACTERS = 200;

/** A tool call in one line: `shell: python plot.py`, `writes report.md`. */
export function describeCall(name: string, input: JsonValue | undefined): string {
  const fields: JsonObject = isJsonObject(input) ? input : {};
  const [verb, argument] = TOOLS[name] ?? [`${name}:`, undefined];
  const value = argument === undefined ? firstTextOf(fields) : textOf(fields[argument]);
  return value === undefined ? verb.replace(/:$/, '') : `${verb} ${value}`.slice(0, MAX_CHARACTERS);
}

/** What an agent does that waits for a person. */
export function describeWait(name: string): string {
  return `waits for ${name}`;
}

export const THINKS = 'thinks';

function firstTextOf(fields: JsonObject): string | undefined {
  return Object.values(fields)
    .map(textOf)
    .find((text) => text !== undefined);
}

/** The workspace is `/` to the agent; that adds nothing. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  return value.length > 1 ? value.replace(/^\/(?=[^/]+$)/, '') : value;
}
