// `errand inputs`: shows, answers and ends agents' questions to their users.
import { readFile } from 'node:fs/promises';
import { Argument, type Command, Option } from 'commander';
import type { UserInputStatus } from '../../../domain/sessions/user-input.ts';
import type { QuestionWire } from '../../../wire/sessions/question.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { USER_INPUT_STATUSES } from '../../../domain/sessions/user-input.ts';
import { OF_SESSION, ROW_LIMIT, notEmpty, idOrStart } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import { confirm, readMessageText } from '../../frame/standard-input.ts';

const ID = new Argument('<question>', 'its id, or the start of it').argParser(idOrStart);

const STATUS = state<QuestionWire>('status', ({ status }) => status, 8);

const IN_A_LIST: readonly Column<QuestionWire>[] = [
  field('request_id', 9),
  STATUS,
  field('username', 6),
  field('expires_at', 4),
  column('question', questionOf, 7),
];

const ALONE: readonly Column<QuestionWire>[] = [
  column('question', questionOf),
  column('options', ({ tool_input: input }) => optionsOf(input['options'])),
  column('multiple', ({ tool_input: input }) => input['multiple'] === true),
  STATUS,
  column('answers', ({ answers }) => (answers === null ? null : textOf(answers))),
  field('expires_at'),
  field('answered_at'),
  field('created_at'),
  field('request_id'),
  field('run_id'),
  field('session_id'),
  field('username'),
  field('user_id'),
];

/** Adds the noun and its verbs. */
export function addInputs(program: Command, io: Io): void {
  const inputs = program
    .command('inputs')
    .summary('questions of agents')
    .description('Questions that agents ask their users. A run that waits for an answer holds no worker slot.');

  inputs
    .command('list')
    .description('List questions, the newest first.')
    .addOption(new Option('--status <status>', 'only those in this status').choices(USER_INPUT_STATUSES))
    .addOption(OF_SESSION)
    .addOption(ROW_LIMIT)
    .action(act(io, list));

  inputs
    .command('show')
    .addArgument(ID)
    .description('Show one question. Reading it is logged.')
    .action(act(io, async (context, id: string) => show(context, await context.client().inputs.get(id))));

  inputs
    .command('answer')
    .addArgument(ID)
    .argument('[text]', 'the answer; "-" reads it from standard input')
    .option('--json <file>', 'give the answer as JSON from a file; "-" for standard input', notEmpty)
    .description('Answer a question. Its run continues.')
    .addHelpText('after', EXAMPLES)
    .action(act(io, answer));

  inputs
    .command('expire')
    .addArgument(ID)
    .description('Stop waiting for an answer. The agent continues without one. Asks first.')
    .action(act(io, expire));
}

const EXAMPLES = `
Examples:
  errand inputs answer 0190f6a0-12ab "The second one"
  echo '["red", "blue"]' | errand inputs answer 0190f6a0-12ab --json -`;

interface ListOptions {
  readonly session?: string;
  readonly status?: UserInputStatus;
  readonly limit?: number;
}

async function list({ client, out }: Context, { session, status, limit }: ListOptions): Promise<void> {
  const found = await client().inputs.list({ session_id: session, status, limit });
  out.page(found, IN_A_LIST, 'questions');
}

async function answer(context: Context, id: string, text: string | undefined, options: { readonly json?: string }) {
  if ((text === undefined) === (options.json === undefined)) {
    throw new CommandError('usage', 'Give the answer either as TEXT or with --json FILE.');
  }
  const answers =
    options.json === undefined ? await textAnswer(context, text!) : await jsonAnswer(context, options.json);
  show(context, await context.client().inputs.answer(id, answers));
}

async function expire(context: Context, id: string): Promise<void> {
  const { inputs } = context.client();
  const input = await inputs.get(id);
  await confirm(
    context,
    async () => `Stop ${input.username}'s agent from waiting for an answer to "${questionOf(input)}"?`,
  );
  show(context, await inputs.expire(input.request_id));
}

function show({ out }: Context, input: QuestionWire): void {
  out.record(input, ALONE, input);
}

async function textAnswer(context: Context, text: string): Promise<string> {
  if (text === '-') return (await readMessageText(context)).replace(/\r?\n$/, '');
  if (text.trim() === '') throw new CommandError('usage', 'The answer is empty.');
  return text;
}

async function jsonAnswer(context: Context, file: string): Promise<JsonValue> {
  const text = file === '-' ? await readMessageText(context) : await readFile(file, 'utf8').catch(unreadable(file));
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new CommandError('usage', `The answer is not JSON: ${messageOf(error)}`);
  }
}

const unreadable = (file: string) => (error: unknown) => {
  throw new CommandError('usage', `${file} cannot be read: ${messageOf(error)}`);
};

function questionOf({ tool_input: input }: QuestionWire): string {
  const { question } = input;
  return typeof question === 'string' ? question : JSON.stringify(input);
}

function optionsOf(options: JsonValue | undefined): string | null {
  return Array.isArray(options) ? options.map((option, at) => `${at + 1}. ${textOf(option)}`).join('; ') : null;
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
