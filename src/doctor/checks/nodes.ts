// The check of nodes: whether this one starts runs, whether all have one version, one time and one configuration, and whether one id is used twice.
import { wordsOfDifference } from '../../domain/nodes/differences.ts';
import { type KnownNode, wordsOfClock } from '../../domain/nodes/node.ts';
import { type Check, type CheckResult, ok, skipped, together, warning } from '../check.ts';
import { byHand } from '../remedies.ts';

export const NODES_CHECK: Check = {
  id: 'nodes',
  title: 'The nodes of the installation',
  examine: ({ daemon: self }) => {
    if (self.state !== 'running') return skipped('only a running daemon knows which are online');
    const online = self.nodes().filter(({ state }) => state !== 'offline');
    const name = online.find(({ isThis }) => isThis)?.name ?? 'not registered';
    const own = self.parts().find(({ name, state }) => name === 'node' && state !== 'ok');
    const found = [
      ...(own === undefined ? [] : [closed(own.detail ?? own.state)]),
      ...versions(online),
      ...copies(online),
      ...clocks(online),
      ...differences(online),
    ];
    return together(
      found,
      `this one is ${name}; ${online.length} online, of version ${[...versionsOf(online)].join(', ')}`,
    );
  },
};

const closed = (why: string): CheckResult => warning(`this node: ${why}`, byHand('errand nodes list shows its state'));

const versionsOf = (nodes: readonly KnownNode[]) => new Set(nodes.map(({ version }) => version));

function versions(online: readonly KnownNode[]): CheckResult[] {
  if (versionsOf(online).size < 2) return [ok('')];
  const words = online.map(({ name, version }) => `${name} ${version}`).join(', ');
  return [
    warning(
      `nodes have different versions: ${words}`,
      byHand('upgrade the older ones: errand nodes drain, then restart'),
    ),
  ];
}

const clocks = (online: readonly KnownNode[]): CheckResult[] =>
  online.flatMap(({ name, clockAheadMs }) => {
    const words = wordsOfClock(clockAheadMs);
    if (words === null) return [];
    return [warning(`the clock of ${name} is ${words}`, byHand('timedatectl set-ntp true, on both machines'))];
  });

const differences = (online: readonly KnownNode[]): CheckResult[] =>
  online
    .filter(({ differs }) => differs.length > 0)
    .map((node) =>
      warning(
        wordsOfDifference(node),
        byHand('compare errand config show on both machines, and their config directories'),
      ),
    );

const copies = (online: readonly KnownNode[]): CheckResult[] =>
  online
    .filter(({ isTwice }) => isTwice)
    .map(({ name, id }) =>
      warning(
        `another process has the id of ${name}, ${id}: a copy of its data directory`,
        byHand('stop the one with the copy, remove the file node-id in it, and start it again'),
      ),
    );
