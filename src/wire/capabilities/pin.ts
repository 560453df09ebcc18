// What is pinned to names that the configuration doesn't define.
import { PIN_HOLDERS, PINNED_KINDS } from '../../domain/capabilities/pin.ts';
import { array, object } from '../composites.ts';
import { integer, oneOf, string } from '../scalars.ts';
import { named, type Static } from '../shape.ts';

/** Names that a configuration defines. */
export const definedNames = named(
  'DefinedNames',
  object({ models: array(string), scenarios: array(string), experts: array(string), teams: array(string) }),
);
export type DefinedNamesWire = Static<typeof definedNames>;

/** A key, a user or a scheduled task that holds such a name, and the command that moves it. */
const lostPin = object({
  holder: oneOf(PIN_HOLDERS),
  id: string,
  name: string,
  username: string,
  kind: oneOf(PINNED_KINDS),
  to: string,
  command: string,
});

/** Some of them; `total` counts them up to 1000. */
export const lostPins = named('LostPins', object({ pins: array(lostPin), total: integer({ from: 0 }) }));
export type LostPinsWire = Static<typeof lostPins>;
