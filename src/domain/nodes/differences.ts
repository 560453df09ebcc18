// Which nodes have another configuration than the rest (L6).
import type { NodeFacts } from './node.ts';

/** What is compared of a node. */
export type Compared = Pick<NodeFacts, 'id' | 'version' | 'configuration'> & { readonly leader: boolean };

/**
 * What differs, by the id of the node that has it: of each setting, and of each kind of definitions, what most nodes have is right, or else what
 * the one that leads has, or the first. Nodes of different versions aren't compared: each would miss what only the other one knows.
 */
export function differencesOf(nodes: readonly Compared[]): ReadonlyMap<string, readonly string[]> {
  const byVersion = Map.groupBy(nodes.filter(hasConfiguration), ({ version }) => version);
  const found = [...byVersion.values()].flatMap((alike) =>
    namesOf(alike).flatMap((name) => othersThan(alike, name).map(({ id }) => ({ id, name }))),
  );
  const byNode = Map.groupBy(found, ({ id }) => id);
  return new Map([...byNode].map(([id, all]) => [id, all.map(({ name }) => name)]));
}

type Configured = Compared & { readonly configuration: NonNullable<Compared['configuration']> };

const hasConfiguration = (node: Compared): node is Configured => node.configuration !== null;

const namesOf = (nodes: readonly Configured[]) => [
  ...new Set(nodes.flatMap(({ configuration }) => Object.keys(configuration))),
];

/** The nodes that don't have what most have under a name. */
function othersThan(nodes: readonly Configured[], name: string): readonly Configured[] {
  const having = [...Map.groupBy(nodes, ({ configuration }) => configuration[name]).values()];
  const most = Math.max(...having.map(({ length }) => length));
  const right = having.filter(({ length }) => length === most);
  const led = right.find((alike) => alike.some(({ leader }) => leader)) ?? right[0];
  return having.filter((alike) => alike !== led).flat();
}

/** Completes a sentence: the node, and what it has of its own. A few names stand for all. */
export function wordsOfDifference({
  name,
  differs,
}: {
  readonly name: string;
  readonly differs: readonly string[];
}): string {
  const more = differs.length - SHOWN;
  const names = differs.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `${name} has another configuration than other nodes: ${names}`;
}

const SHOWN = 5;
