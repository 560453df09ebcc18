// The verbs of Office Mode: on the whole house, and on one session.
import { type HouseParts, makeHouse } from './house.ts';
import { type LookingParts, makeLookInto } from './looking.ts';
import { makeSessionFacts, type SessionFactParts } from './session-facts.ts';
import { makeSessionFiles, type SessionFileParts } from './session-files.ts';
import { makeSessionPages } from './session-pages.ts';

export type OfficeParts = LookingParts & Omit<SessionFactParts & SessionFileParts, 'lookInto'> & HouseParts;

export function makeOfficeOperations(parts: OfficeParts) {
  const lookInto = makeLookInto(parts);
  return {
    ...makeHouse(parts),
    ...makeSessionFacts({ ...parts, lookInto }),
    ...makeSessionPages({ ...parts, lookInto }),
    ...makeSessionFiles({ ...parts, lookInto }),
  };
}
