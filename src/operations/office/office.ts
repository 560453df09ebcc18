// The verbs of Office Mode: on the whole house, and on one session.
import { type HouseParts, makeHouse } from './house.ts';
import { makeSessionFacts, type SessionFactParts } from './session-facts.ts';
import { makeSessionFiles, type SessionFileParts } from './session-files.ts';
import { makeSessionPages, type SessionPageParts } from './session-pages.ts';

export type OfficeParts = HouseParts & SessionFactParts & SessionFileParts & SessionPageParts;

export function makeOfficeOperations(parts: OfficeParts) {
  const { store, looking, catalog, clock } = parts;
  return {
    ...makeHouse({ store, clock }),
    ...makeSessionFacts({ store, looking, catalog, clock }),
    ...makeSessionPages({ store, looking, clock }),
    ...makeSessionFiles(parts),
  };
}
