// The session's workspace as a tree, with sizes and what the last run changed; each file can be saved.
import { readableSize } from '../../terminal/sizes.ts';
import { fileSource } from '../../tui/feed/sources.ts';
import type { FileNodeWire } from '../../wire/sessions/artifact.ts';
import { h } from '../page/element.ts';
import { redrawOn } from '../page/keyed.ts';
import { foreign } from '../page/foreign.ts';
import type { Tab, TabView } from './tab-view.ts';

const CHANGES = { added: ['+', 'running', 'added'], modified: ['~', 'waiting', 'changed'] } as const;
/** More are told, not drawn. */
const MOST = 2000;

/** What its user has done to the tree, which outlives that it is read again. */
interface Manner {
  readonly closed: Set<string>;
  left: number;
}

function filesTab(): TabView {
  const element = h('div', { class: 'files' });
  const draw = redrawOn(element);
  const closed = new Set<string>();
  return {
    element,
    draw({ data }) {
      const focused = document.activeElement?.getAttribute('data-file');
      draw(data, () => {
        if (data === undefined) return [];
        const nodes = data as readonly FileNodeWire[];
        const manner: Manner = { closed, left: MOST };
        const tree = treeView(nodes, manner);
        return [
          ...(nodes.length === 0 ? [] : [tree]),
          ...(manner.left <= 0 ? [h('p', { class: 'dim' }, `… more than ${MOST} files`)] : []),
        ];
      });
      if (focused == null || document.activeElement !== document.body) return;
      element.querySelector<HTMLElement>(`[data-file="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    },
  };
}

function treeView(nodes: readonly FileNodeWire[], manner: Manner): Node {
  const items: Node[] = [];
  for (const node of nodes) {
    if (manner.left <= 0) break;
    manner.left -= 1;
    items.push(node.type === 'folder' ? folderView(node, manner) : fileView(node));
  }
  return h('ul', { class: 'tree' }, ...items);
}

function folderView(node: FileNodeWire, manner: Manner): Node {
  const head = h('summary', {}, h('span', { class: 'is-accent' }, foreign(node.name), '/'), size(sizeOf(node)));
  const folder = h(
    'details',
    { open: manner.closed.has(node.path) ? undefined : true },
    head,
    treeView(node.children ?? [], manner),
  );
  folder.addEventListener('toggle', () => {
    if (folder.open) manner.closed.delete(node.path);
    else manner.closed.add(node.path);
  });
  return h('li', {}, folder);
}

function fileView(node: FileNodeWire): Node {
  const address = addressOf(node);
  const [mark, role, word] = node.oss_status === null ? ['', 'plain', ''] : CHANGES[node.oss_status];
  const name =
    address === null
      ? foreign(node.name)
      : h(
          'a',
          { href: address, download: node.name, rel: 'noopener noreferrer', 'data-file': node.path },
          foreign(node.name),
        );
  return h(
    'li',
    { class: 'file' },
    h('span', { class: `mark is-${role}`, title: word === '' ? undefined : word }, mark),
    name,
    node.oss_meta === null ? '' : size(node.oss_meta.size),
  );
}

const size = (bytes: number) => h('span', { class: 'size dim' }, readableSize(bytes));

function sizeOf({ oss_meta: meta, children }: FileNodeWire): number {
  return (meta?.size ?? 0) + (children ?? []).reduce((sum, child) => sum + sizeOf(child), 0);
}

/** Where a file is fetched; null where it is not. Only addresses of the web are followed. */
export function addressOf({ type, url, downloadUrl }: FileNodeWire): string | null {
  const address = type === 'folder' ? null : (downloadUrl ?? url);
  return address !== null && /^https?:\/\//.test(address) ? address : null;
}

/** A file by its path. */
export function findFile(nodes: readonly FileNodeWire[], path: string): FileNodeWire | undefined {
  for (const node of nodes) {
    const found = node.path === path && node.type === 'file' ? node : findFile(node.children ?? [], path);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const files: Tab = { name: 'files', startsAtEnd: false, source: fileSource, make: filesTab };
