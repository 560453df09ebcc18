// The verbs on published pages and their shares, for their owners.
import { makePageOperations, type PageOperationParts } from './pages.ts';
import { makeShareOperations, type ShareOperationParts } from './shares.ts';

export function makePublishingOperations(parts: PageOperationParts & ShareOperationParts) {
  return { ...makePageOperations(parts), ...makeShareOperations(parts) };
}
