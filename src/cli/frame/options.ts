// The options of a command as a table: by the name of a field in a request, the option that gives it.
import { type Command, Option } from 'commander';
import { notEmpty } from './arguments.ts';
import { act, type Context } from './context.ts';
import type { Io } from './io.ts';

/** What commander has read, by its own names. */
type Values = Readonly<Record<string, unknown>>;

/** An option, or some that exclude one another, and the value that they give: undefined for none. */
export interface TypedOption<out T> {
  readonly options: readonly Option[];
  readonly valueIn: (values: Values) => T | undefined;
}

/** One that always has a value. */
interface RequiredOption<out T> extends TypedOption<T> {
  readonly isRequired: true;
}

export type Options = Readonly<Record<string, TypedOption<unknown>>>;

/** A table for some fields of a request. */
export type OptionsOf<Request> = { readonly [N in keyof Request]?: TypedOption<Exclude<Request[N], undefined>> };

type ValueOf<O> = O extends TypedOption<infer T> ? T : never;

/** The fields that the options of a table give; those that aren't given are left out. */
export type Given<O> = {
  readonly [N in keyof O as O[N] extends RequiredOption<unknown> ? N : never]: ValueOf<O[N]>;
} & { readonly [N in keyof O as O[N] extends RequiredOption<unknown> ? never : N]?: ValueOf<O[N]> };

/** Reads a value; `before` is that of the same option earlier on the line. */
type Parser<T> = (text: string, before?: T) => T;

/** An option with a value: a text as it is, unless it is parsed. */
export function option(flags: string, help: string): TypedOption<string>;
export function option<T>(flags: string, help: string, parse: Parser<T>): TypedOption<T>;
export function option<T>(flags: string, help: string, parse?: Parser<T>): TypedOption<T> {
  const one = new Option(flags, help);
  return typed(parse === undefined ? one : one.argParser(parse));
}

/** What clears a field on the command line. Commander would turn a null into '', so null comes only at the end. */
export const NONE = 'none';

/** An option whose value `none` clears the field. */
export function clearable(flags: string, help: string): TypedOption<string | null>;
export function clearable<T>(flags: string, help: string, parse: Parser<T>): TypedOption<T | null>;
export function clearable(flags: string, help: string, parse: Parser<unknown> = notEmpty): TypedOption<unknown> {
  const orNone = option(flags, help, (text: string) => (text === NONE ? NONE : parse(text)));
  return converted(orNone, (value) => (value === NONE ? null : value));
}

/** An option whose value is one of some words. `earlier` has words that scripts may have from before, with what they mean; the help leaves them out. */
export function choice<const T extends string>(
  flags: string,
  help: string,
  words: readonly T[],
  earlier: Readonly<Partial<Record<string, NoInfer<T>>>> = {},
): TypedOption<T> {
  const one = new Option(flags, help).choices(words);
  const check = one.parseArg!;
  const meantBy = (word: string) => (Object.hasOwn(earlier, word) ? earlier[word] : undefined);
  return typed(one.argParser<T>((word, before) => meantBy(word) ?? check(word, before)));
}

/** An option without a value. */
export function flag(flags: string, help: string): TypedOption<true> {
  return typed(new Option(flags, help));
}

/** An option without a value, and the same with `no-`. */
export function toggle(flags: string, help: string, helpOfNo: string): TypedOption<boolean> {
  const yes = new Option(flags, help);
  return { ...typed(yes), options: [yes, new Option(flags.replace('--', '--no-'), helpOfNo)] };
}

/** The same option, required. */
export function required<T>(one: TypedOption<T>): RequiredOption<T> {
  for (const each of one.options) each.makeOptionMandatory();
  return { ...one, isRequired: true };
}

/** The same option, which has a value when it isn't given, too. `shown` is what the help has for it. */
export function always<T>(one: TypedOption<T>, value: T, shown?: string): RequiredOption<T> {
  for (const each of one.options) each.default(value, shown);
  return { ...one, isRequired: true };
}

/** The same option for a field that takes its value in another form. */
export function converted<T, U>(one: TypedOption<T>, convert: (value: T) => U): TypedOption<U> {
  const valueIn = (values: Values) => {
    const value = one.valueIn(values);
    return value === undefined ? undefined : convert(value);
  };
  return { options: one.options, valueIn };
}

/** An option with another that scripts may have from before, which the help leaves out. */
export function withEarlier<T>(one: TypedOption<T>, earlier: TypedOption<T>): TypedOption<T> {
  const names = one.options.map((each) => each.attributeName());
  for (const each of earlier.options) each.conflicts(names).hideHelp();
  return {
    options: [...one.options, ...earlier.options],
    valueIn: (values) => one.valueIn(values) ?? earlier.valueIn(values),
  };
}

/** A table of options for one field, which is an object; undefined when none of them is given. */
export function group<O extends Options>(table: O): TypedOption<Given<O>> {
  return {
    options: Object.values(table).flatMap(({ options }) => options),
    valueIn: (values) => {
      const given = givenIn(table, values);
      return Object.keys(given).length === 0 ? undefined : given;
    },
  };
}

function typed<T>(one: Option): TypedOption<T> {
  return { options: [one], valueIn: (values) => values[one.attributeName()] as T | undefined };
}

function givenIn<O extends Options>(table: O, values: Values): Given<O> {
  const fields = Object.entries(table).map(([name, { valueIn }]) => [name, valueIn(values)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Given<O>;
}

/** What a command does. */
export type Work<Input extends readonly unknown[]> = (context: Context, ...input: Input) => Promise<void>;

/** Gives a command its options and its work, which receives the context, the arguments and what the options give. */
export function perform<O extends Options, A extends unknown[]>(
  command: Command,
  io: Io,
  table: O,
  work: Work<[...A, Given<O>]>,
): Command {
  for (const { options } of Object.values(table)) for (const one of options) command.addOption(one);
  return command.action(
    act(io, async (context, ...input: [...A, Values]) => {
      const given = givenIn(table, input.at(-1) as Values);
      await work(context, ...(input.slice(0, -1) as A), given);
    }),
  );
}
