// What the user can say to the program instead of the agent.
import { messageOf } from '../../domain/errors.ts';
import { readableSize } from '../../terminal/sizes.ts';
import { padStartTo, safeLine } from '../../terminal/text.ts';
import type { FileNodeWire } from '../../wire/sessions/artifact.ts';
import type { Chat } from './turn.ts';

interface ChatCommand {
  readonly help: string;
  /** Returns whether the conversation ends. */
  readonly work: (chat: Chat) => Promise<boolean> | boolean;
}

const stays = (work: (chat: Chat) => Promise<void> | void) => async (chat: Chat) => {
  await work(chat);
  return false;
};

const COMMANDS: Readonly<Record<string, ChatCommand>> = {
  '/files': { help: 'the files of the session, with their sizes', work: stays(showFiles) },
  '/session': { help: 'the id of the session', work: stays(showSession) },
  '/new': { help: 'a new session', work: stays(startAnew) },
  '/help': { help: 'this', work: stays(showHelp) },
  '/quit': { help: 'end the conversation, as Ctrl-D does', work: () => true },
};

/** Does a command; returns undefined for a message to the agent, otherwise whether the conversation ends. */
export async function runCommand(chat: Chat, said: string): Promise<boolean | undefined> {
  const name = said.trimEnd();
  // With a space before it, anything is a message.
  if (!/^\/[a-z]+$/.test(name)) return undefined;
  const command = COMMANDS[name];
  if (command === undefined) {
    chat.transcript.note(
      `There is no command ${name}; /help lists the commands. To send it as text, put a space before it.`,
    );
    return false;
  }
  try {
    return await command.work(chat);
  } catch (error) {
    chat.context.signal.throwIfAborted();
    chat.transcript.note(`! ${safeLine(messageOf(error))}`, 'red');
    return false;
  }
}

const KEYS = [
  ['Enter', 'sends the message'],
  ['\\ Enter', 'begins a new line, as do Alt-Enter and Ctrl-J'],
  ['Up, Down', 'earlier messages'],
  ['Ctrl-C', 'stops the agent; at an empty prompt, twice, ends the conversation'],
] as const;

function showHelp({ transcript }: Chat): void {
  const rows = [...Object.entries(COMMANDS).map(([name, { help }]) => [name, help] as const), ...KEYS];
  transcript.note(rows.map(([name, help]) => `${name.padEnd(10)}${help}`).join('\n'));
}

function showSession({ sessionId, transcript }: Chat): void {
  transcript.note(sessionId ?? 'The session begins with your first message.');
}

function startAnew(chat: Chat): void {
  chat.sessionId = undefined;
  chat.transcript.note('Your next message begins a new session.');
}

async function showFiles({ apiKey, context, sessionId, transcript }: Chat): Promise<void> {
  if (sessionId === undefined) return transcript.note('The session begins with your first message.');
  const { files, workspace_export_status: status, error } = await context.client().ofKey(apiKey).files(sessionId);
  const lines = fileLines(files);
  transcript.note(lines.length === 0 ? 'There are no files.' : lines.join('\n'));
  if (status === 'pending') transcript.note('The files of the last run are still being collected.');
  if (error !== undefined) transcript.note(`! ${safeLine(error.message)}`, 'red');
}

/** A line for each file of a tree, in order of their paths. */
function fileLines(tree: readonly FileNodeWire[]): string[] {
  return tree
    .flatMap((node): readonly FileNodeWire[] => (node.children === null ? [node] : leavesOf(node.children)))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(
      ({ path, oss_meta: meta }) => `${padStartTo(meta === null ? '' : readableSize(meta.size), 8)}  ${safeLine(path)}`,
    );
}

const leavesOf = (nodes: readonly FileNodeWire[]): FileNodeWire[] =>
  nodes.flatMap((node) => (node.children === null ? [node] : leavesOf(node.children)));
