// The verbs of Office Mode: on all runs, and on one session.
import { type FloorParts, makeFloor } from './floor.ts';
import { makeSessionFacts, type SessionFactParts } from './session-facts.ts';
import { makeSessionFiles, type SessionFileParts } from './session-files.ts';
import { makeSessionPages, type SessionPageParts } from './session-pages.ts';

export type OfficeParts = FloorParts & SessionFactParts & SessionFileParts & SessionPageParts;

export function makeOfficeOperations(parts: OfficeParts) {
  const { store, auditedAccess, catalog, clock } = parts;
  return {
    ...makeFloor({ store, clock }),
    ...makeSessionFacts({ store, auditedAccess, catalog, clock }),
    ...makeSessionPages({ store, auditedAccess, clock }),
    ...makeSessionFiles(parts),
  };
}
