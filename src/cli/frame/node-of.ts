// Whose output it is, where an installation has several nodes: that of the one that was asked.
import type { StatusWire } from '../../wire/status.ts';

export type NodeOfOutput = StatusWire['node'];

/** Null where there is only one node. */
export const nodeIn = ({ node, nodes }: StatusWire): NodeOfOutput | null => (nodes.length > 1 ? node : null);

export const wordsOfNode = ({ name, id }: NodeOfOutput): string => `node ${name} (${id})`;
