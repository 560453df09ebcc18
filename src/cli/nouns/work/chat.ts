// `errand chat`: one turn of the agent, or a conversation.
import type { Command } from 'commander';
import type { Ask, Conversation } from '../../../client/turns/conversation.ts';
import {
  addToMessage,
  type ConversationEvent,
  type PartialMessage,
  textOfDelta,
  textOfMessage,
} from '../../../client/turns/messages.ts';
import { isUuid } from '../../../domain/ids.ts';
import { converse } from '../../chat/converse.ts';
import { clearing, type Sign, signOn } from '../../chat/sign.ts';
import { callLine, waitLine } from '../../chat/transcript.ts';
import { idOrStart, notEmpty } from '../../frame/arguments.ts';
import { type Context, requireApiKeyOrUser } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { showRunContinues } from '../../terminal/run-continues.ts';
import type { Io } from '../../frame/io.ts';
import { always, flag, type Given, option, perform } from '../../frame/options.ts';
import { readMessageText } from '../../frame/standard-input.ts';
import { widthForHints } from '../../frame/output.ts';
import { shellWord } from '../../../terminal/shell-word.ts';
import { cutTo, safeLine } from '../../../terminal/text.ts';

const OPTIONS = {
  session: option('--session <id>', 'continue this session, by its id or the start of it', idOrStart),
  as: option('--as <user>', 'ask as this user, beside the daemon and without a key; it is recorded', notEmpty),
  stream: flag('--stream', 'print the answer as it arrives, and what the agent does on standard error'),
  model: always(option('--model <name>', 'name to send; the key decides which model answers', notEmpty), 'errand'),
};

/** Adds the command. */
export function addChat(program: Command, io: Io): void {
  perform(program.command('chat [text...]'), io, OPTIONS, chat)
    .summary('ask the agent, or converse with it')
    .description(
      'Ask the agent and print its answer. Several words are joined to one text; "-" reads it from standard input. Without a text, converse on the terminal; without a terminal, read the text from standard input. Requires ERRAND_API_KEY, or --as USER beside the daemon.',
    )
    .addHelpText('after', EXAMPLES);
}

async function chat(context: Context, words: readonly string[], options: Given<typeof OPTIONS>): Promise<void> {
  const { model } = options;
  if (words.length === 0 && context.io.terminal.stdin) {
    requireTerminal(context);
    const apiKey = requireApiKeyOrUser(context, options.as);
    const sessionId = await sessionOf(context, options.session);
    return converse(context, { apiKey, username: options.as, model, sessionId, call: callFor(context, options) });
  }
  const text = words.join(' ');
  const sign = signOn(context.io);
  const asking: Asking = { ...context, sign, out: clearing(sign, context.out) };
  const ask: Ask = {
    apiKey: requireApiKeyOrUser(context, options.as),
    username: options.as,
    model,
    text: words.length === 0 || text === '-' ? await readMessageText(context) : notBlank(text),
    sessionId: await sessionOf(context, options.session),
    onRetry: (tries) => asking.out.hint(tries === 1 ? 'Connection lost, reconnecting.' : `Try ${tries}.`),
  };
  sign.show();
  const conversation = await sent(asking, context.client().messages.stream(ask));
  try {
    await (options.stream ? stream(asking, conversation) : answer(asking, conversation));
  } finally {
    sign.remove();
    showRunContinues(context, conversation.runId);
    hintSession(context, callFor(context, options), conversation.sessionId);
  }
}

/** The whole id. A session has no name that a start which leads to none might be. */
async function sessionOf(context: Context, idOrItsStart: string | undefined): Promise<string | undefined> {
  const id = await context.client().wholeId('sessions', idOrItsStart);
  if (id !== undefined && !isUuid(id)) throw new CommandError('notFound', `Session "${id}" not found.`);
  return id;
}

/** One question; the sign is there until something is printed. */
interface Asking extends Context {
  readonly sign: Sign;
}

const EXAMPLES = `
Examples:
  errand chat
  errand chat Write a limerick to /limerick.txt
  errand chat --stream --session 0190f6a0-12ab "And now a sonnet"
  git diff | errand chat -
  errand chat --as ada "What is in your workspace?"`;

function notBlank(text: string): string {
  if (text.trim() === '') throw new CommandError('usage', 'The text is empty.');
  return text;
}

function requireTerminal({ io, out }: Context): void {
  if (io.terminal.stdout && out.format !== 'json') return;
  throw new CommandError(
    'usage',
    'A conversation needs a terminal, and no -o json. Give a text to ask for one answer.',
  );
}

/** Prints the answer once it is there, and what it waits for meanwhile. */
async function answer({ call, out, sign }: Asking, conversation: Conversation): Promise<void> {
  for await (const event of conversation.events) {
    const waiting = waitOf(event, call);
    if (waiting === undefined) continue;
    out.hint(waiting);
    sign.show();
  }
  const message = await conversation.whole();
  if (out.format === 'json') out.json(documentOf(message, conversation));
  else {
    const text = out.flowing();
    text.add(withLineEnd(textOfMessage(message)));
    text.end();
  }
}

/** Until the daemon answers, the run's id is unknown here; Ctrl-C does not recall what was sent. */
async function sent<T>(context: Asking, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    context.sign.remove();
    showRunContinues(context, null);
    throw error;
  }
}

async function stream(context: Context, conversation: Conversation): Promise<void> {
  const message = await print(context, conversation);
  if (context.out.format === 'json') context.out.json(documentOf(message, conversation));
}

/** Prints the answer as it arrives, and returns the whole message. */
async function print({ call, io, out }: Context, { events }: Conversation): Promise<PartialMessage> {
  let message: PartialMessage = { content: [] };
  const text = out.flowing();
  try {
    for await (const event of events) {
      message = addToMessage(message, event);
      if (event.type === 'content_block_delta' && out.format !== 'json') text.add(textOfDelta(event));
      if (event.type === 'content_block_stop') text.end();
      const doing = waitOf(event, call) ?? lineFor(event, widthForHints(io));
      if (doing === undefined) continue;
      text.end();
      out.hint(doing);
    }
  } finally {
    text.end();
  }
  return message;
}

/** What the agent does, in one line; undefined for events without one. */
function lineFor(event: ConversationEvent, columns: number): string | undefined {
  if (event.type === 'tool_use') return callLine(event, columns);
  if (event.type === 'tool_result' && !event.ok) {
    return cutTo(`! ${safeLine(`${event.name} failed: ${event.preview}`)}`, columns);
  }
  return undefined;
}

/** What the run waits for: its model, or the answer of its user; undefined for other events. */
function waitOf(event: ConversationEvent, call: string): string | undefined {
  if (event.type === 'model_wait.started') return waitLine(event);
  if (event.type !== 'user_input.requested') return undefined;
  return `The agent is waiting for an answer. Reply with: ${call} inputs answer ${safeLine(event.request_id)} TEXT`;
}

function documentOf(message: PartialMessage, { sessionId, runId }: Conversation): object {
  return { ...message, session_id: sessionId, run_id: runId };
}

function hintSession({ out }: Context, call: string, sessionId: string | null): void {
  if (sessionId === null || out.format === 'json') return;
  out.hint(`Continue with: ${call} --session ${sessionId} TEXT`);
}

/** The command for the next turn, but for its session. */
const callFor = ({ call }: Context, { as }: Pick<Given<typeof OPTIONS>, 'as'>) =>
  as === undefined ? `${call} chat` : `${call} chat --as ${shellWord(as)}`;

const withLineEnd = (text: string) => (text.endsWith('\n') ? text : `${text}\n`);
