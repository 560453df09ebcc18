// The verbs of every kind of definition: list, show, and a check of its files.
import type { Command } from 'commander';
import { formatProblem } from '../../../catalog/reading/problem.ts';
import type { Defined, DefinitionNoun, DefinitionWire } from '../../../wire/capabilities/definition.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

/** A noun of the command line. */
export interface Noun<N extends DefinitionNoun> {
  readonly noun: N;
  /** The word for one of them, such as `expert`. */
  readonly one: string;
  readonly inAList: readonly Column<DefinitionWire<N>>[];
  readonly alone: readonly Column<DefinitionWire<N>>[];
}

/** A column whose cell is a list of names. */
export function names<T, Name extends keyof T & string>(name: Name): Column<T> {
  return column(name, (row) => (row[name] as readonly string[] | null | undefined)?.join(', '));
}

/** Columns for what every definition has. */
export const NAME: readonly Column<Defined>[] = [field('id', 3), field('name', 9)];
export const ABOUT: readonly Column<Defined>[] = [field('file', 2), field('description', 6)];

/** Adds `list` and `show`. */
export function addReading<N extends DefinitionNoun>(command: Command, io: Io, kind: Noun<N>): void {
  const { noun, one, inAList, alone } = kind;
  command
    .command('list')
    .description(`List each ${one} in effect.`)
    .action(
      act(io, async ({ client, out }) => {
        const list = await client().definitions.list(noun);
        out.list(list.items, inAList, list);
        for (const problem of list.problems) out.hint(formatProblem(problem));
      }),
    );

  command
    .command('show <ref>')
    .description(`Show one ${one}, by name or id.`)
    .action(
      act(io, async ({ client, out }, ref: string) => {
        const found = await client().definitions.get(noun, ref);
        out.record(found, alone, found);
      }),
    );
}

/** Adds `check`, which reads the files now. */
export function addFileCheck(command: Command, io: Io, noun: DefinitionNoun): void {
  command
    .command('check')
    .description(
      'Read the files now and report every problem, without applying them. Exits with 8 if there is a problem.',
    )
    .action(act(io, (context) => check(context, noun)));
}

async function check({ client, out }: Context, noun: DefinitionNoun): Promise<void> {
  const checked = await client().definitions.check(noun);
  const lines = checked.problems.map((problem) => `${formatProblem(problem)}\n`);
  if (out.format === 'json') out.json(checked);
  else out.text(checked.ok ? 'The files are valid.\n' : lines.join(''));
  if (!checked.ok) throw new CommandError('checkFailed', '');
}
