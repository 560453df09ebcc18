// The nodes of the installation: the daemons that share its database.
import { NODE_STATES } from '../domain/nodes/node.ts';
import { endpoints, pathText } from './endpoint.ts';
import { listOf } from './listing.ts';
import { array } from './shapes/composites.ts';
import { called, record } from './shapes/record.ts';
import { boolean, integer, oneOf, string, time, uuid } from './shapes/scalars.ts';
import { type JsonOf, named, nullable, refersTo } from './shapes/shape.ts';

const count = integer({ from: 0 });

/**
 * `this`: the one that answers. `twice`: another process has tried to run with its id. `leader`: it
 * does what is done once for all nodes. `slots`: runs that it can execute at once, 0 for
 * one without workers. `draining`: it was told to start no runs. `clock_ahead_ms`: by how much the clock of its machine is ahead of the
 * database's, negative when it is behind; null while it isn't known. `differs`: the settings, and
 * kinds of definitions, that it has otherwise than most nodes of its version.
 */
const node = named(
  'Node',
  record({
    id: uuid,
    name: string,
    state: oneOf(NODE_STATES),
    isThis: called('this', boolean),
    isTwice: called('twice', boolean),
    leader: boolean,
    draining: boolean,
    slots: count,
    running: count,
    version: string,
    address: string,
    labels: array(string),
    clockAheadMs: nullable(integer({})),
    differs: array(string),
    lastBeatAt: time,
    registeredAt: time,
  }),
);
export type NodeWire = JsonOf<typeof node>;

const removedNode = named('RemovedNode', record({ id: uuid }));

const params = { ref: refersTo('nodes', pathText) };

/** Nodes, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const nodes = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/nodes', summary: 'List the nodes of the installation', operation: 'listNodes', reply: listOf(node) },
  get: { route: 'GET /api/v1/nodes/:ref', summary: 'A node', operation: 'getNode', params, reply: node },
  drain: { route: 'POST /api/v1/nodes/:ref/drain', summary: 'Have a node start no runs; those that execute there end', operation: 'drainNode', params, reply: node },
  undrain: { route: 'POST /api/v1/nodes/:ref/undrain', summary: 'Have a node start runs again', operation: 'undrainNode', params, reply: node },
  remove: { route: 'DELETE /api/v1/nodes/:ref', summary: 'Remove a node that is offline', operation: 'removeNode', params, reply: removedNode },
});
