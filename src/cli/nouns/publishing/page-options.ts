// The options that say where a page comes from, and how it is shown.
import type { NewPageWire, PageChangeWire } from '../../../wire/publishing/page.ts';
import { idOrStart, notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { clearable, type Given, NONE, option, type OptionsOf, toggle } from '../../frame/options.ts';

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

/** Where the versions of a new page come from. */
export const SOURCE = {
  session: option('--session <id>', 'the session whose files are published', idOrStart),
  schedule: option('--schedule <task>', 'the scheduled task, by name or id, each of whose runs is published', notEmpty),
};

/** The source of a new page. Throws `usage` unless there is exactly one. */
export async function sourceOf(
  { client }: Context,
  { session, schedule }: Given<typeof SOURCE>,
): Promise<Pick<NewPageWire, 'session_id' | 'scheduled_task_id'>> {
  if (session !== undefined && schedule === undefined) return { session_id: session };
  if (schedule !== undefined && session === undefined)
    return { scheduled_task_id: (await client().schedules.get(schedule)).scheduled_task_id };
  throw new CommandError('usage', 'Give one of --session and --schedule.');
}

/** Those that `create` and `set` share. */
export const PAGE_FIELDS = {
  description: clearable('--description <text>', 'what it is about; "none" for none'),
  category: clearable('--category <name>', 'its category on the board; "none" for none'),
  tags: option('--tag <word>', 'a tag; can be repeated, "none" for none', tagList),
  public_to_board_enabled: toggle(
    '--board',
    'show it on the public board',
    'do not show it on the board; its addresses stay valid',
  ),
  distraction_free_mode_enabled: toggle(
    '--distraction-free',
    'show its content alone, without a frame',
    'show its content in a frame with title and versions',
  ),
} satisfies OptionsOf<PageChangeWire>;
