// What the user has said in conversations before, one JSON text a line, in the user's state directory.
import { appendFileSync, chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectories } from '../../disk/make-directories.ts';
import type { Environment } from '../../config/environment.ts';
import { replaceStateFile, stateDirectoryOf } from '../frame/state-files.ts';

const MAX_MESSAGES = 1_000;
const MAX_FILE_CHARACTERS = 1_000_000;
/** Longer messages are not kept. */
const MAX_MESSAGE_CHARACTERS = 100_000;

export interface History {
  /** The oldest first. */
  readonly messages: readonly string[];
  /** Adds a message, unless it is the last one again. */
  add(message: string): void;
}

/** Opens the history. Where the file can't be read or written, it lasts as long as the program. */
export function openHistory(environment: Environment): History {
  const file = fileOf(environment);
  const messages = file === undefined ? [] : load(file);
  return {
    messages,
    add(message) {
      if (message === messages.at(-1)) return;
      messages.push(message);
      if (messages.length > MAX_MESSAGES) messages.shift();
      if (file !== undefined && message.length <= MAX_MESSAGE_CHARACTERS) append(file, message);
    },
  };
}

function fileOf(environment: Environment): string | undefined {
  const directory = stateDirectoryOf(environment);
  return directory && path.join(directory, 'chat-history');
}

function load(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  const messages = text
    .slice(-MAX_FILE_CHARACTERS)
    .split('\n')
    .flatMap((line) => messageIn(line))
    .slice(-MAX_MESSAGES);
  if (text.length > MAX_FILE_CHARACTERS) quietly(() => replace(file, messages.slice(-MAX_MESSAGES / 2)));
  return messages;
}

/** None for a line that was cut, or that another program wrote. */
function messageIn(line: string): string[] {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'string' ? [message] : [];
  } catch {
    return [];
  }
}

const linesOf = (messages: readonly string[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('');

function append(file: string, message: string): void {
  quietly(() => {
    makeDirectories(path.dirname(file), 0o700);
    appendFileSync(file, linesOf([message]), { mode: 0o600 });
    // The mode above is for new files only.
    chmodSync(file, 0o600);
  });
}

/** Another conversation may read it meanwhile. */
function replace(file: string, messages: readonly string[]): void {
  replaceStateFile(file, linesOf(messages).slice(-MAX_FILE_CHARACTERS / 2));
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // A conversation is worth more than its history.
  }
}
