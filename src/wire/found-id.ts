// An id found by its start.
import { object } from './composites.ts';
import { uuid } from './scalars.ts';
import { named, type Static } from './shape.ts';

export const foundId = named('FoundId', object({ id: uuid }));
export type FoundIdWire = Static<typeof foundId>;
