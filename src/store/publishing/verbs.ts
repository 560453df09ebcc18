// The verbs on published pages.
import type { Database } from '../engine/database.ts';
import { makeBoard } from './board.ts';
import { makePageHandOver } from './hand-over.ts';
import { makePublishJobs } from './jobs.ts';
import { makeManifestFiles } from './manifest-files.ts';
import { makeManifests } from './manifests.ts';
import { makePages } from './pages.ts';
import { makePlanVersion } from './plan-version.ts';
import { makeVersions } from './versions.ts';
import { makePageRemovals } from './removals.ts';
import { makeShares } from './shares.ts';

export function makePublishingVerbs(database: Database) {
  return {
    pages: {
      ...makePages(database),
      ...makePageHandOver(database),
      ...makeVersions(database),
      planVersion: makePlanVersion(database),
    },
    shares: makeShares(database),
    manifests: { ...makeManifests(database), ...makeManifestFiles(database) },
    board: makeBoard(database),
    publishJobs: makePublishJobs(database),
    pageRemovals: makePageRemovals(database),
  };
}
