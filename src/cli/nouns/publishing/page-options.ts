// The options that say where a page comes from, and how it is shown.
import type { Command } from 'commander';
import type { NewPageWire, PageChangeWire } from '../../../wire/publishing/page.ts';
import { idOrStart, NONE, notEmpty, orNull } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';

/** Where the versions of a page come from. */
export interface SourceOptions {
  readonly session?: string;
  readonly schedule?: string;
}

/** The options as commander reads them. */
export interface FieldOptions {
  readonly name?: string;
  readonly entry?: string;
  readonly description?: string;
  readonly category?: string;
  readonly tag?: readonly string[];
  readonly board?: boolean;
  readonly distractionFree?: boolean;
}

/** A path in the workspace, with or without its first slash. */
export function entryPath(text: string): string {
  const path = notEmpty(text);
  return path.startsWith('/') ? path : `/${path}`;
}

/** The publish key or share code at the end of a pasted address; any other text unchanged. */
export function keyInAddress(text: string): string {
  return /^https?:\/\/[^/]+\/share\/(?:p\/)?([0-9A-Za-z]+)$/.exec(text)?.[1] ?? notEmpty(text);
}

/** Reads `--tag`, which can be repeated. */
function tagList(text: string, before: readonly string[] = []): readonly string[] {
  return text === NONE ? [] : [...new Set([...before, notEmpty(text)])];
}

/** Adds the options that `create` has in addition. */
export function addSourceOptions(command: Command): Command {
  return command
    .option('--session <id>', 'the session whose files are published', idOrStart)
    .option('--schedule <task>', 'the scheduled task, by name or id, each of whose runs is published', notEmpty);
}

/** The source of a new page. Throws `usage` unless there is exactly one. */
export async function sourceOf(
  { client }: Context,
  { session, schedule }: SourceOptions,
): Promise<Pick<NewPageWire, 'session_id' | 'scheduled_task_id'>> {
  if (session !== undefined && schedule === undefined) return { session_id: session };
  if (schedule !== undefined && session === undefined)
    return { scheduled_task_id: (await client().schedules.get(schedule)).scheduled_task_id };
  throw new CommandError('usage', 'Give one of --session and --schedule.');
}

/** Adds the options that `create` and `set` share. */
export function addFieldOptions(command: Command): Command {
  return command
    .option('--description <text>', 'what it is about; "none" for none', notEmpty)
    .option('--category <name>', 'its category on the board; "none" for none', notEmpty)
    .option('--tag <word>', 'a tag; can be repeated, "none" for none', tagList)
    .option('--board', 'show it on the public board')
    .option('--no-board', 'do not show it on the board; its addresses stay valid')
    .option('--distraction-free', 'show its content alone, without a frame')
    .option('--no-distraction-free', 'show its content in a frame with title and versions');
}

/** Adds those that `set` has in addition: `create` takes the name as an argument, and requires the entry. */
export function addIdentityOptions(command: Command): Command {
  return command
    .option('--name <text>', 'its title', notEmpty)
    .option('--entry <path>', 'the file that is shown first, from the next version on', entryPath);
}

/** What the given options ask for, without fields for other options. */
export function fieldsOf({
  name,
  entry,
  description,
  category,
  tag,
  board,
  distractionFree,
}: FieldOptions): PageChangeWire {
  return {
    ...(name !== undefined && { name }),
    ...(entry !== undefined && { entry_path: entry }),
    ...(description !== undefined && { description: orNull(description) }),
    ...(category !== undefined && { category: orNull(category) }),
    ...(tag !== undefined && { tags: tag }),
    ...(board !== undefined && { public_to_board_enabled: board }),
    ...(distractionFree !== undefined && { distraction_free_mode_enabled: distractionFree }),
  };
}
