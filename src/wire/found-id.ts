// An id found by its start.
import { notFound } from '../domain/errors.ts';
import { ID_NOUNS, type IdNoun } from '../domain/ids.ts';
import { endpoints, pathText } from './endpoint.ts';
import { made, record } from './shapes/record.ts';
import { uuid } from './shapes/scalars.ts';
import { named, refined } from './shapes/shape.ts';

const foundId = named('FoundId', record({ id: made(uuid, (id: string) => id) }));

const noun = refined(pathText, (given): IdNoun => {
  const known = ID_NOUNS.find((one) => one === given);
  if (known === undefined) throw notFound('Kind of id');
  return known;
});

// biome-ignore format: a table reads best with one endpoint a line
export const ids = endpoints('admin', 'envelope', {
  find: { route: 'GET /api/v1/ids/:noun/:start', summary: 'Find the one id that begins with these characters', operation: 'findId', params: { noun }, reply: foundId },
});
