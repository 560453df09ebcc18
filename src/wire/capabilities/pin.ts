// What is pinned to names that the configuration doesn't define.
import { type Defined, PIN_HOLDERS, PINNED_KINDS } from '../../domain/capabilities/pin.ts';
import { array } from '../shapes/composites.ts';
import { record, request } from '../shapes/record.ts';
import { integer, oneOf, string } from '../shapes/scalars.ts';
import { type JsonOf, named, refined } from '../shapes/shape.ts';

/** Names that a configuration defines. */
export const definedNames = named(
  'DefinedNames',
  refined(
    request({ models: array(string), scenarios: array(string), experts: array(string), teams: array(string) }),
    ({ models, scenarios, experts, teams }): Defined => ({
      model: new Set(models),
      scenario: new Set(scenarios),
      expert: new Set(experts),
      team: new Set(teams),
    }),
  ),
);

/** A key, a user or a scheduled task that holds such a name, and the command that moves it. */
const lostPin = record({
  holder: oneOf(PIN_HOLDERS),
  id: string,
  name: string,
  username: string,
  kind: oneOf(PINNED_KINDS),
  to: string,
  command: string,
});

/** Some of them; `total` counts them up to 1000. */
export const lostPins = named('LostPins', record({ pins: array(lostPin), total: integer({ from: 0 }) }));
export type LostPinsWire = JsonOf<typeof lostPins>;
