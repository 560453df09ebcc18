// The log's lines as people read them on a terminal: time, level, message, fields.
import { spokenMs } from '../domain/figures.ts';
import { paint, type Style } from '../terminal/colours.ts';
import { safeLine, safeText } from '../terminal/text.ts';

const LEVELS: Readonly<Record<string, Style | undefined>> = {
  trace: 'dim',
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};
const LEVEL_WIDTH = 5;

/** Makes a function that turns a line of JSON into one for people, in local time; other lines come out safe. */
export function makeLogForPeople(colours: boolean, { dates = false } = {}): (line: string) => string {
  const dress = (text: string, style: Style | undefined) =>
    colours && style !== undefined && text !== '' ? paint(text, style) : text;

  const fieldOf = (name: string, value: unknown) =>
    `${dress(`${safeLine(name)}=`, 'dim')}${quotedIfNeeded(textOf(value))}`;

  return (line) => {
    const entry = parsed(line);
    if (entry === undefined) return safeText(line);
    const { level, time, msg, err, ...fields } = entry;
    const word = safeLine(textOf(level));
    const { summary, stack } = errorOf(err);
    const { words: request, rest } = requestIn(msg, fields);
    const words = [
      dress(`${dates ? dateOf(time) : ''}${clockOf(time)}`, 'dim'),
      dress(word.padEnd(LEVEL_WIDTH), LEVELS[word]),
      ...(request?.map(([text, style]) => dress(safeLine(text), style)) ?? [safeLine(textOf(msg))]),
      ...idsLast(Object.entries(rest)).map(([name, value]) => fieldOf(name, value)),
      ...(summary === undefined ? [] : [fieldOf('error', summary)]),
    ];
    return `${words.filter((text) => text !== '').join(' ')}\n${dress(stack, 'dim')}`;
  };
}

interface Request {
  /** Undefined for other lines. */
  readonly words?: readonly (readonly [string, Style | undefined])[];
  readonly rest: Readonly<Record<string, unknown>>;
}

/** As much of the id of a request as fits beside the others; the JSON line has the whole. */
const ID_SHOWN = 8;
const STATUS_STYLES: readonly (Style | undefined)[] = [undefined, undefined, undefined, undefined, 'yellow', 'red'];

/** One request in a row: `GET /healthz 200 3 ms socket 0190f6a0`. */
function requestIn(msg: unknown, fields: Readonly<Record<string, unknown>>): Request {
  const { method, path, status, duration_ms: ms, client_address: from, request_id: id, ...rest } = fields;
  if (msg !== 'request' || typeof status !== 'number' || typeof ms !== 'number') return { rest: fields };
  const words = [
    [textOf(method), 'bold'],
    [textOf(path), undefined],
    [String(status), STATUS_STYLES[Math.floor(status / 100)]],
    [spokenMs(ms), undefined],
    [textOf(from), 'dim'],
    [textOf(id).slice(0, ID_SHOWN), 'dim'],
  ] as const;
  return { words, rest };
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Ids say least, and are as long as all the rest. */
function idsLast(fields: readonly [string, unknown][]): readonly [string, unknown][] {
  const isId = ([name]: readonly [string, unknown]) => name.endsWith('_id');
  return [...fields.filter((field) => !isId(field)), ...fields.filter(isId)];
}

/** `2026-03-01 `, by the clock of this machine. */
function dateOf(time: unknown): string {
  const at = new Date(textOf(time));
  if (Number.isNaN(at.getTime())) return '';
  const two = (number: number) => String(number).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
}

/** `12:03:04.005`, by the clock of this machine. */
function clockOf(time: unknown): string {
  const at = new Date(textOf(time));
  if (Number.isNaN(at.getTime())) return '';
  const two = (number: number) => String(number).padStart(2, '0');
  const milliseconds = String(at.getMilliseconds()).padStart(3, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${milliseconds}`;
}

/** An error in a few words, and where it was thrown in lines of their own. */
function errorOf(err: unknown): { readonly summary: string | undefined; readonly stack: string } {
  if (err === undefined || err === null) return { summary: undefined, stack: '' };
  if (typeof err !== 'object') return { summary: textOf(err), stack: '' };
  const { message, stack } = err as { readonly message?: unknown; readonly stack?: unknown };
  const frames =
    typeof stack === 'string'
      ? safeText(stack)
          .split('\n')
          .filter((line) => /^\s+at /.test(line))
      : [];
  const summary = typeof message === 'string' ? message : JSON.stringify(err);
  return { summary, stack: frames.map((frame) => `    ${frame.trim()}\n`).join('') };
}

/** A value of JSON as a text; nothing for one that is absent. */
function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function quotedIfNeeded(text: string): string {
  const safe = safeLine(text);
  return /^[^\s"]+$/.test(safe) || /^[[{]/.test(safe) ? safe : JSON.stringify(safe);
}
