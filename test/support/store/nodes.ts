// Nodes for tests: what one says of itself, and what others know of it.
import type { KnownNode, NodeFacts } from '../../../src/domain/nodes/node.ts';

/** The id of a node that a test calls by a number. */
export const nodeId = (number: number) => `0198c0de-0000-7000-8000-${String(number).padStart(12, '0')}`;

export function aNode(over: Partial<NodeFacts> = {}): NodeFacts {
  const { id = nodeId(1), name = 'north' } = over;
  return {
    id,
    process: `process of ${id}`,
    place: `place of ${id}`,
    name,
    version: '1.0.0',
    address: '127.0.0.1:8484',
    slots: 4,
    labels: [],
    running: 0,
    draining: false,
    clockAheadMs: 0,
    configuration: null,
    ...over,
  };
}

export function aKnownNode(over: Partial<KnownNode> = {}): KnownNode {
  const { process: _process, place: _place, configuration: _configuration, ...facts } = aNode();
  return {
    ...facts,
    state: 'online',
    isThis: true,
    isTwice: false,
    differs: [],
    leader: false,
    lastBeatAt: 0,
    registeredAt: 0,
    ...over,
  };
}
