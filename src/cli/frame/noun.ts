// A noun of the command line with its usual verbs: each asks the daemon, and shows its answer.
import { Argument, type Command } from 'commander';
import type { Client } from '../../client/client.ts';
import type { Column } from '../../terminal/columns.ts';
import type { ListWire } from '../../wire/listing.ts';
import type { Context } from './context.ts';
import { CommandError } from './exit-codes.ts';
import type { Io } from './io.ts';
import { type Given, type Options, type OptionsOf, perform, type Work } from './options.ts';
import { confirm } from './standard-input.ts';

/** Shows one thing, a column a line. */
export function showing<Row>(columns: readonly Column<Row>[]): (context: Context, row: Row) => void {
  return ({ out }, row) => out.record(row, columns, row);
}

/** A table for what a verb of the client is asked with: its last argument. */
export type OptionsFor<N extends keyof Client, V extends keyof Client[N]> = Client[N][V] extends (
  ...input: infer Input
) => unknown
  ? Required<Input> extends readonly [...unknown[], infer Last]
    ? OptionsOf<Last>
    : never
  : never;

/** An argument that names one thing. */
interface Reference<Ref> {
  readonly name: string;
  readonly help?: string;
  readonly parse: (text: string) => Ref;
}

/** For commander. */
export function argumentOf<Ref>({ name, help, parse }: Reference<Ref>): Argument {
  return new Argument(name, help).argParser(parse);
}

/** What the verbs of a noun have in common. */
interface Noun<Row, Ref> {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The argument that names one of them. */
  readonly one: Reference<Ref>;
  show(context: Context, row: Row): void | Promise<void>;
  /** What many of them are called, where a list can be a part of a longer one. */
  readonly plural?: string;
}

/** Something that can't be undone: what it is about, the question, what is done, and how the answer is shown. */
interface Confirmed<Ref, T, Answer> {
  find(client: Client, ref: Ref): Promise<T>;
  question(thing: T): string;
  work(client: Client, thing: T): Promise<Answer>;
  show(context: Context, answer: Answer): void | Promise<void>;
}

type Ask<Input extends readonly unknown[], Answer> = (client: Client, ...input: Input) => Promise<Answer>;

/** Adds the verbs of a noun, in the order in which they are called; each returns its command. `about` is its description. */
interface Verbs<Row, Ref> {
  readonly command: Command;
  list<O extends Options, T>(
    about: string,
    options: O,
    columns: readonly Column<T>[],
    ask: Ask<[Given<O>], ListWire<T>>,
  ): Command;
  show(about: string, ask: Ask<[Ref], Row>): Command;
  /** Changes the fields that are given; at least one. */
  set<O extends Options>(about: string, options: O, ask: Ask<[Ref, Given<O>], Row>): Command;
  /** `enable` and `disable`. */
  switches(
    about: { readonly enable: string; readonly disable: string },
    ask: Ask<[Ref, { readonly enabled: boolean }], Row>,
  ): void;
  /** A verb that asks first. */
  confirmed<T, Answer>(verb: string, about: string, steps: Confirmed<Ref, T, Answer>): Command;
  /** Any other verb without an argument. */
  verb<O extends Options>(verb: string, about: string, options: O, work: Work<[Given<O>]>): Command;
  /** Any other verb on one of them. */
  on<O extends Options>(verb: string, about: string, options: O, work: Work<[Ref, Given<O>]>): Command;
}

/** Adds the noun, without verbs yet. */
export function addNoun<Row, Ref>(program: Command, io: Io, noun: Noun<Row, Ref>): Verbs<Row, Ref> {
  const { one, show, plural } = noun;
  const command = program.command(noun.name).summary(noun.summary).description(noun.description);

  const verb: Verbs<Row, Ref>['verb'] = (verb, about, options, work) =>
    perform<typeof options, []>(command.command(verb).description(about), io, options, work);

  const on: Verbs<Row, Ref>['on'] = (verb, about, options, work) => {
    const added = command.command(verb).addArgument(argumentOf(one)).description(about);
    return perform(added, io, options, work);
  };

  return {
    command,
    verb,
    on,
    list: (about, options, columns, ask) =>
      verb('list', about, options, async ({ client, out }, given) => {
        const found = await ask(client(), given);
        if (plural === undefined) out.list(found.items, columns, found);
        else out.page(found, columns, plural);
      }),
    show: (about, ask) =>
      on('show', about, {}, async (context, ref) => show(context, await ask(context.client(), ref))),
    set: (about, options, ask) =>
      on('set', about, options, async (context, ref, given) => {
        if (Object.keys(given).length === 0) throw new CommandError('usage', 'Give at least one field to change.');
        await show(context, await ask(context.client(), ref, given));
      }),
    switches: (about, ask) => {
      for (const verb of ['enable', 'disable'] as const)
        on(verb, about[verb], {}, async (context, ref) =>
          show(context, await ask(context.client(), ref, { enabled: verb === 'enable' })),
        );
    },
    confirmed: (verb, about, { find, question, work, show: showAnswer }) =>
      on(verb, about, {}, async (context, ref) => {
        const client = context.client();
        const thing = await find(client, ref);
        await confirm(context, async () => question(thing));
        await showAnswer(context, await work(client, thing));
      }),
  };
}
