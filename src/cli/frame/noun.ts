// A noun of the command line with its usual verbs: each asks the daemon, and shows its answer.
import { Argument, type Command } from 'commander';
import type { Client } from '../../client/client.ts';
import type { Column } from '../../terminal/columns.ts';
import type { ListWire } from '../../wire/listing.ts';
import type { Context } from './context.ts';
import { CommandError } from './exit-codes.ts';
import type { Io } from './io.ts';
import { type Given, type Options, perform } from './options.ts';
import { confirm } from './standard-input.ts';

type Show<Row> = (context: Context, row: Row) => void | Promise<void>;

/** Shows one thing, a column a line. */
export function showing<Row>(columns: readonly Column<Row>[]): (context: Context, row: Row) => void {
  return ({ out }, row) => out.record(row, columns, row);
}

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
  readonly show: Show<Row>;
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

/** Adds the verbs of a noun, in the order in which they are called; each returns its command. */
interface Verbs<Row, Ref> {
  readonly command: Command;
  list<O extends Options, Item>(
    description: string,
    options: O,
    columns: readonly Column<Item>[],
    ask: (client: Client, given: Given<O>) => Promise<ListWire<Item>>,
  ): Command;
  show(description: string, ask: (client: Client, ref: Ref) => Promise<Row>): Command;
  /** Changes the fields that are given; at least one. */
  set<O extends Options>(
    description: string,
    options: O,
    ask: (client: Client, ref: Ref, given: Given<O>) => Promise<Row>,
  ): Command;
  /** `enable` and `disable`, with their descriptions. */
  switches(
    descriptions: { readonly enable: string; readonly disable: string },
    ask: (client: Client, ref: Ref, fields: { readonly enabled: boolean }) => Promise<Row>,
  ): void;
  /** A verb that asks first. */
  confirmed<T, Answer>(verb: string, description: string, steps: Confirmed<Ref, T, Answer>): Command;
  /** Any other verb without an argument. */
  verb<O extends Options>(
    name: string,
    description: string,
    options: O,
    work: (context: Context, given: Given<O>) => Promise<void>,
  ): Command;
  /** Any other verb on one of them. */
  on<O extends Options>(
    verb: string,
    description: string,
    options: O,
    work: (context: Context, ref: Ref, given: Given<O>) => Promise<void>,
  ): Command;
}

/** Adds the noun, without verbs yet. */
export function addNoun<Row, Ref>(program: Command, io: Io, noun: Noun<Row, Ref>): Verbs<Row, Ref> {
  const { one, show, plural } = noun;
  const command = program.command(noun.name).summary(noun.summary).description(noun.description);

  const verb: Verbs<Row, Ref>['verb'] = (name, description, options, work) =>
    perform<typeof options, []>(command.command(name).description(description), io, options, work);

  const on: Verbs<Row, Ref>['on'] = (verb, description, options, work) => {
    const added = command.command(verb).addArgument(argumentOf(one)).description(description);
    return perform(added, io, options, work);
  };

  return {
    command,
    verb,
    on,
    list: (description, options, columns, ask) =>
      verb('list', description, options, async ({ client, out }, given) => {
        const found = await ask(client(), given);
        if (plural === undefined) out.list(found.items, columns, found);
        else out.page(found, columns, plural);
      }),
    show: (description, ask) =>
      on('show', description, {}, async (context, ref) => show(context, await ask(context.client(), ref))),
    set: (description, options, ask) =>
      on('set', description, options, async (context, ref, given) => {
        if (Object.keys(given).length === 0) throw new CommandError('usage', 'Give at least one field to change.');
        await show(context, await ask(context.client(), ref, given));
      }),
    switches: (descriptions, ask) => {
      for (const [verb, enabled] of [
        ['enable', true],
        ['disable', false],
      ] as const)
        on(verb, descriptions[verb], {}, async (context, ref) =>
          show(context, await ask(context.client(), ref, { enabled })),
        );
    },
    confirmed: (verb, description, { find, question, work, show: showAnswer }) =>
      on(verb, description, {}, async (context, ref) => {
        const client = context.client();
        const thing = await find(client, ref);
        await confirm(context, async () => question(thing));
        await showAnswer(context, await work(client, thing));
      }),
  };
}
