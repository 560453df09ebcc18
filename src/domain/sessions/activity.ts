// What an agent does with a tool call, in one line for a watcher (G15).

/** The words before the main argument, and its name in the call's input. */
type Wording = readonly [words: string, argument: string];

const WORDINGS: ReadonlyMap<string, Wording> = new Map([
  ['shell', ['shell:', 'command']],
  ['read_file', ['reads', 'path']],
  ['write_file', ['writes', 'path']],
  ['edit_file', ['edits', 'path']],
  ['list_files', ['lists', 'path']],
  ['search_files', ['searches for', 'pattern']],
  ['web_fetch', ['fetches', 'url']],
  ['load_skill', ['reads the skill', 'name']],
  ['delegate', ['delegates to', 'agent']],
  ['connector_request', ['asks the service', 'connection']],
  ['report_insight', ['reports', 'title']],
  ['ask_user', ['asks', 'question']],
]);

const MAX_CHARACTERS = 160;
/** The first argument that is a text, for tools without words of their own. */
const FIRST_TEXT = /[{,]"[^"\\]*":"((?:[^"\\]|\\.)*)/;
/** The workspace is `/` to the agent; before the name of a file that adds nothing. */
const ROOT = /^\/(?=[^/]+$)/;

/**
 * Such as `writes report.md`. `input` is the call's arguments as JSON, or the beginning of it: what stands after the main
 * argument may be long. Tools without words of their own read as `name: their first text`.
 */
export function activityOf(name: string, input: string): string {
  const [words, argument] = WORDINGS.get(name) ?? [`${name}:`, null];
  const pattern = argument === null ? FIRST_TEXT : new RegExp(`"${argument}":"((?:[^"\\\\]|\\\\.)*)`);
  const text = textIn(pattern.exec(input)?.[1] ?? '');
  const found = argument === 'path' ? text.replace(ROOT, '') : text;
  return found === '' ? name : oneLine(`${words} ${found}`);
}

function textIn(escaped: string): string {
  try {
    return JSON.parse(`"${escaped}"`) as string;
  } catch {
    // Cut within an escape.
    return escaped;
  }
}

function oneLine(text: string): string {
  const whole = text.replace(/\s+/g, ' ').trim();
  const characters = Array.from(whole.slice(0, 2 * MAX_CHARACTERS));
  if (characters.length <= MAX_CHARACTERS) return whole;
  return `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`;
}

const ASKS = 'asks ';

/** What an agent does that waits for a person, such as `waits for Ann: Which currency?`. `activity`: its call. */
export function waitOf(person: string, activity: string | null): string {
  const question = activity?.startsWith(ASKS) ? activity.slice(ASKS.length) : '';
  return question === '' ? `waits for ${person}` : `waits for ${person}: ${question}`;
}
