// The verbs on sessions, and on what their runs made, asked and noticed.
import { type ArtifactOperationParts, makeArtifactOperations } from './artifacts.ts';
import { type InsightOperationParts, makeInsightOperations } from './insights.ts';
import { makeOwnFileOperations, type OwnFileParts } from './own-files.ts';
import { makeSessionOperations, type SessionOperationParts } from './sessions.ts';
import { makeUserInputOperations, type UserInputOperationParts } from './user-inputs.ts';

export type SessionParts = SessionOperationParts &
  ArtifactOperationParts &
  OwnFileParts &
  UserInputOperationParts &
  InsightOperationParts;

export function makeSessionVerbs(parts: SessionParts) {
  return {
    ...makeSessionOperations(parts),
    ...makeArtifactOperations(parts),
    ...makeOwnFileOperations(parts),
    ...makeUserInputOperations(parts),
    ...makeInsightOperations(parts),
  };
}
