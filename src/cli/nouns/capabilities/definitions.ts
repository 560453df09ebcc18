// The verbs of every kind of definition: list, show, and a check of its files.
import type { Command } from 'commander';
import { formatProblem } from '../../../catalog/reading/problem.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import type { Defined, DefinitionNoun, DefinitionWire } from '../../../wire/capabilities/definition.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { addNoun, showing } from '../../frame/noun.ts';

/** A kind of definition on the command line. */
interface Definitions<N extends DefinitionNoun> {
  /** What its command is called, where it is not the noun. */
  readonly name?: string;
  readonly summary: string;
  readonly description: string;
  /** The word for one of them, such as `expert`. */
  readonly one: string;
  readonly inAList: readonly Column<DefinitionWire<N>>[];
  readonly alone: readonly Column<DefinitionWire<N>>[];
  /** Whether the kind has files of its own, which can be checked. */
  readonly hasFiles?: true;
}

/** A column whose cell is a list of names. */
export function names<T, Name extends keyof T & string>(name: Name): Column<T> {
  return column(name, (row) => (row[name] as readonly string[] | null | undefined)?.join(', '));
}

/** Columns for what every definition has. */
export const NAME: readonly Column<Defined>[] = [field('id', 3), field('name', 9)];
export const ABOUT: readonly Column<Defined>[] = [field('file', 2), field('description', 6)];

/** Adds a kind, with `list`, `show` and perhaps `check`. */
export function addDefinitions<N extends DefinitionNoun>(
  program: Command,
  io: Io,
  noun: N,
  { name = noun, one, inAList, alone, hasFiles, ...words }: Definitions<N>,
): Command {
  const reference = { name: '<ref>', parse: String };
  const kind = addNoun<DefinitionWire<N>, string>(program, io, {
    name,
    ...words,
    one: reference,
    show: showing(alone),
  });
  kind.verb('list', `List each ${one} in effect.`, {}, async ({ client, out }) => {
    const list = await client().definitions.list(noun);
    out.list(list.items, inAList, list);
    for (const problem of list.problems) out.hint(formatProblem(problem));
  });
  kind.show(`Show one ${one}, by name or id.`, (client, ref) => client.definitions.get(noun, ref));
  if (hasFiles) kind.verb('check', ABOUT_CHECK, {}, (context) => check(context, noun));
  return kind.command;
}

const ABOUT_CHECK =
  'Read the files now and report every problem, without applying them. Exits with 8 if there is a problem.';

async function check({ client, out }: Context, noun: DefinitionNoun): Promise<void> {
  const checked = await client().definitions.check(noun);
  const lines = checked.problems.map((problem) => `${formatProblem(problem)}\n`);
  if (out.format === 'json') out.json(checked);
  else out.text(checked.ok ? 'The files are valid.\n' : lines.join(''));
  if (!checked.ok) throw new CommandError('checkFailed', '');
}
