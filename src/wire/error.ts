// The bodies of errors: one shape for each group of routes (§7, A2).
import { REASONS } from '../domain/errors.ts';
import { json, object } from './shapes/composites.ts';
import { constant, integer, number, oneOf, string } from './shapes/scalars.ts';
import { anyOf, named, nullable, optional, type Shape, type Static } from './shapes/shape.ts';

const type = oneOf([...new Set(Object.values(REASONS).map((reason) => reason.type))]);

/** What the Messages protocol's stream has in an error, too. */
export const errorFacts = object({ type, message: string });

export const bareError = named('Error', object({ type: oneOf(['error']), error: errorFacts }));

/** `param` names the request field at fault. */
export const chatError = named(
  'ChatError',
  object({ error: object({ message: string, type, param: nullable(string), code: constant(null) }) }),
);

/** `code` repeats the HTTP status. */
export const envelopeError = named(
  'EnvelopeError',
  object({ code: integer({ from: 400, to: 599 }), message: string, data: constant(null) }),
);

/** `id`: of the message that was refused; null where it is not known. */
export const rpcError = named(
  'RpcError',
  object({
    jsonrpc: constant('2.0'),
    id: nullable(anyOf('must be a text or a number', string, number())),
    error: object({ code: integer(), message: string, data: optional(json) }),
  }),
);

/** The body of an error, by the group of its route. */
export const ERROR_SHAPES = { bare: bareError, chat: chatError, envelope: envelopeError, rpc: rpcError } as const;

/** A success of the management interface. `messages`: what it may say in place of `ok`. */
export function envelopeOf<T, J, D>(data: Shape<T, J, D>, messages: readonly string[] = []) {
  return object({ code: constant(0), message: oneOf(['ok', ...messages]), data });
}

/** The name of such a group. */
export type ErrorShape = keyof typeof ERROR_SHAPES;
export type ErrorWire<S extends ErrorShape> = Static<(typeof ERROR_SHAPES)[S]>;
