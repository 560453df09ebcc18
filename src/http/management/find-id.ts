// The handler that finds an id by its prefix.
import { notFound } from '../../domain/errors.ts';
import { ID_NOUNS } from '../../domain/ids.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';

/** Makes the handler. */
export function makeFindIdHandler(operations: Operations) {
  return async ({ params }: Exchange, caller: Administrator) => {
    const noun = ID_NOUNS.find((known) => known === params['noun']);
    if (noun === undefined) throw notFound('Kind of id');
    return ok({ id: await operations.findId(caller, noun, params['start'] ?? '') });
  };
}
