// The verbs on published pages and their shares, for their owners.
import { makePageOperations, type PageOperationParts } from './pages.ts';
import { makeShareOperations, type ShareOperationParts } from './shares.ts';

export type PublishingParts = PageOperationParts & ShareOperationParts;

export function makePublishingOperations(parts: PublishingParts) {
  return { ...makePageOperations(parts), ...makeShareOperations(parts) };
}
