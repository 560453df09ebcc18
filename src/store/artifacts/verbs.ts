// The verbs on the files of workspaces, and on what was made of them.
import type { Database } from '../engine/database.ts';
import { makeArtifactEnds } from './artifact-ends.ts';
import { makeArtifactQueue } from './artifact-queue.ts';
import { makeCopiedWorkspaces } from './copied-workspaces.ts';
import { makeDocuments } from './documents.ts';
import { makeLostWorkspaces } from './lost-workspaces.ts';
import { makeMovedWorkspaces } from './moved-workspaces.ts';
import { makeReadArtifacts } from './read-artifacts.ts';
import { makeRecordArtifacts } from './record-artifacts.ts';
import { makeRequestedArchives } from './requested-archives.ts';
import { makeScreenshots } from './screenshots.ts';
import { makeWorkspaceExports } from './workspace-exports.ts';
import { makeWorkspaceNotes } from './workspace-notes.ts';
import { makeWorkspaceTree } from './workspace-tree.ts';

export function makeArtifactVerbs(database: Database) {
  return {
    artifacts: {
      ...makeArtifactQueue(database),
      ...makeRecordArtifacts(database),
      ...makeArtifactEnds(database),
      ...makeWorkspaceExports(database),
      ...makeWorkspaceTree(database),
      ...makeReadArtifacts(database),
      ...makeRequestedArchives(database),
      ...makeLostWorkspaces(database),
      ...makeMovedWorkspaces(database),
      ...makeCopiedWorkspaces(database),
      ...makeWorkspaceNotes(database),
    },
    documents: makeDocuments(database),
    screenshots: makeScreenshots(database),
  };
}
