// `errand inputs`: shows, answers and ends agents' questions to their users.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { QuestionWire } from '../../../wire/sessions/question.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { USER_INPUT_STATUSES } from '../../../domain/sessions/user-input.ts';
import { idOrStart, notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { LIMIT, OF_SESSION } from '../../frame/list-options.ts';
import { addNoun, argumentOf, type OptionsFor, showing } from '../../frame/noun.ts';
import { choice, type Given, option, perform } from '../../frame/options.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import { readMessageText } from '../../frame/standard-input.ts';

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

const FILTERS = {
  status: choice('--status <status>', 'only those in this status', USER_INPUT_STATUSES),
  session_id: OF_SESSION,
  ...LIMIT,
} satisfies OptionsFor<'inputs', 'list'>;

const QUESTION = { name: '<question>', help: 'its id, or the start of it', parse: idOrStart };
const show = showing(ALONE);

/** Adds the noun and its verbs. */
export function addInputs(program: Command, io: Io): void {
  const inputs = addNoun<QuestionWire, string>(program, io, {
    name: 'inputs',
    summary: 'questions of agents',
    description: 'Questions that agents ask their users. A run that waits for an answer holds no worker slot.',
    one: QUESTION,
    show,
    plural: 'questions',
  });

  inputs.list('List questions, the newest first.', FILTERS, IN_A_LIST, (client, { session_id, ...query }) =>
    client.inputs.list({ session_id, ...query }),
  );
  inputs.show('Show one question. Reading it is logged.', (client, id) => client.inputs.get(id));
  const answers = inputs.command.command('answer').addArgument(argumentOf(QUESTION));
  perform(answers.argument('[text]', 'the answer; "-" reads it from standard input'), io, JSON_FILE, answer)
    .description('Answer a question. Its run continues.')
    .addHelpText('after', EXAMPLES);
  inputs.confirmed('expire', 'Stop waiting for an answer. The agent continues without one. Asks first.', {
    find: (client, id) => client.inputs.get(id),
    question: (input) => `Stop ${input.username}'s agent from waiting for an answer to "${questionOf(input)}"?`,
    work: (client, { request_id: id }) => client.inputs.expire(id),
    show,
  });
}

const JSON_FILE = {
  json: option('--json <file>', 'give the answer as JSON from a file; "-" for standard input', notEmpty),
};

const EXAMPLES = `
Examples:
  errand inputs answer 0190f6a0-12ab "The second one"
  echo '["red", "blue"]' | errand inputs answer 0190f6a0-12ab --json -`;

async function answer(context: Context, id: string, text: string | undefined, options: Given<typeof JSON_FILE>) {
  if ((text === undefined) === (options.json === undefined)) {
    throw new CommandError('usage', 'Give the answer either as TEXT or with --json FILE.');
  }
  const answers =
    options.json === undefined ? await textAnswer(context, text!) : await jsonAnswer(context, options.json);
  show(context, await context.client().inputs.answer(id, answers));
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
