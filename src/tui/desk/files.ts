// The session's workspace as a tree, with sizes and what the last run changed.
import type { Client } from '../../client/client.ts';
import type { FileNodeWire } from '../../wire/sessions/artifact.ts';
import { readableSize } from '../../terminal/sizes.ts';
import { fileSource } from '../feed/sources.ts';
import type { DeskState } from '../state/desk-state.ts';
import { indexOfChoice, moveChoice, windowStart } from '../state/visible.ts';
import { cell, type Line, lineOf, span } from '../text/line.ts';
import type { Tab } from './tab.ts';

/** A line of the tree. */
interface Entry {
  readonly node: FileNodeWire;
  readonly depth: number;
}

/** Deeper folders are indented no further. */
const MAX_INDENT = 12;

const CHANGES = { added: ['+', 'running'], modified: ['~', 'waiting'] } as const;

function entriesOf(nodes: readonly FileNodeWire[], depth = 0): readonly Entry[] {
  return [...nodes]
    .sort((a, b) => Number(a.type === 'file') - Number(b.type === 'file') || (a.name < b.name ? -1 : 1))
    .flatMap((node) => [{ node, depth }, ...entriesOf(node.children ?? [], depth + 1)]);
}

function lineOfEntry({ node, depth }: Entry, width: number, isChosen: boolean): Line {
  const [mark, role] = node.oss_status === null ? ([' ', 'plain'] as const) : CHANGES[node.oss_status];
  const isFolder = node.type === 'folder';
  const size = isFolder ? readableSize(sizeOf(node)) : node.oss_meta === null ? '' : readableSize(node.oss_meta.size);
  const left = [
    span(isChosen ? '❯ ' : '  ', 'accent'),
    span(`${mark} `, role),
    span(' '.repeat(Math.min(2 * depth, MAX_INDENT))),
  ];
  const room = Math.max(1, width - 4 - Math.min(2 * depth, MAX_INDENT) - 10);
  const name = cell(isFolder ? `${node.name}/` : node.name, room, isFolder ? 'accent' : role);
  return { ...lineOf([...left, name], [span(size.padStart(9), 'dim')], width), selected: isChosen };
}

function sizeOf({ oss_meta: meta, children }: FileNodeWire): number {
  return (meta?.size ?? 0) + (children ?? []).reduce((sum, child) => sum + sizeOf(child), 0);
}

const known = new WeakMap<object, readonly Entry[]>();

/** The lines of the tree that was read last. */
function treeOf({ readings }: Pick<DeskState, 'readings'>): readonly Entry[] {
  const nodes = readings['files']?.data as readonly FileNodeWire[] | undefined;
  if (nodes === undefined) return [];
  const entries = known.get(nodes) ?? entriesOf(nodes);
  known.set(nodes, entries);
  return entries;
}

const pathsOf = (entries: readonly Entry[]) => entries.map(({ node }) => node.path);

/** Which line is chosen; lines may have come and gone since. */
function chosenOf(screen: DeskState): number {
  return indexOfChoice(pathsOf(treeOf(screen)), screen.chosenFile);
}

/** The choice so many lines further, and the view with it. */
export function chooseFile(screen: DeskState, by: number, rows: number): Partial<DeskState> {
  const paths = pathsOf(treeOf(screen));
  const chosenFile = moveChoice(paths, screen.chosenFile, by);
  const key = windowStart(paths.length, chosenFile.index, rows);
  return { chosenFile, positions: { ...screen.positions, files: { key, row: 0 } } };
}

/** The file that is chosen, if it can be fetched. */
export function chosenFile(screen: DeskState): DeskState['wanted'] {
  const node = treeOf(screen)[chosenOf(screen)]?.node;
  return node === undefined || addressOf(node) === null ? null : { path: node.path, name: node.name };
}

function addressOf({ type, url, downloadUrl }: FileNodeWire): string | null {
  return type === 'folder' ? null : (downloadUrl ?? url);
}

/** A new address of a file, as those that were read expire; null when it is gone. Throws ClientError. */
export async function freshAddress(client: Client, sessionId: string, path: string): Promise<string | null> {
  const entries = entriesOf(await client.office.files(sessionId));
  const found = entries.find(({ node }) => node.path === path);
  return found === undefined ? null : addressOf(found.node);
}

export const files: Tab = {
  name: 'files',
  title: 'Files',
  shortTitle: 'Files',
  source: fileSource,
  items: (screen, _data, { width }) => {
    const entries = treeOf(screen);
    const chosen = chosenOf(screen);
    return {
      count: entries.length,
      keyAt: (at) => at,
      linesAt: (at) => {
        const entry = entries[at];
        return entry === undefined ? [] : [lineOfEntry(entry, width, at === chosen)];
      },
      startsAtEnd: false,
    };
  },
};
