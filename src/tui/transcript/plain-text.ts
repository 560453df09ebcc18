// What happened in a session as plain text, for a pager: whole, as it was written.
import { spokenMs } from '../../domain/figures.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Entry } from '../feed/entries.ts';
import { describeCall } from '../state/activity.ts';
import { CUT, inputTexts } from '../state/call-words.ts';
import { changesOf } from '../state/changes.ts';

const SIGNS = { same: '  ', added: '+ ', removed: '- ' } as const;

/** A call with what it changes, or what it was given. */
export function* callText(name: string, input: JsonObject): Iterable<string> {
  yield `▸ ${describeCall(name, input)}\n`;
  const changes = changesOf(name, input);
  if (changes !== null) for (const { kind, text } of changes.lines) yield `    ${SIGNS[kind]}${text}\n`;
  else for (const text of inputTexts(input)) yield `    ${text}\n`;
}

/** `asked`: what the user asked where a run begins. */
export function* entryText(entry: Entry, asked: string | null): Iterable<string> {
  if (entry.kind === 'asked') {
    if (asked !== null) yield `\n❯ ${asked}\n`;
  } else if (entry.kind === 'tool') {
    if (entry.input === null) yield `▸ ${entry.text}\n`;
    else yield* callText(entry.name, entry.input.value);
    if (entry.input?.isCut === true) yield `${CUT}\n`;
    if (entry.result === null) return;
    yield `${entry.result.output.trimEnd()}\n(${spokenMs(entry.result.durationMs)})\n`;
    if (entry.result.isCut) yield `${CUT}\n`;
  } else yield entry.kind === 'news' ? `${entry.glyph} ${entry.text}\n` : `${entry.text}\n`;
}
