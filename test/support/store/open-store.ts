// Opens a store as the daemon does: with the bodies of webhook events.
import type { Clock } from '../../../src/domain/clock.ts';
import { openStore as open, type Store, type StoreOptions } from '../../../src/store/open-store.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';

export function openStore(file: string, clock: Clock, options: Partial<StoreOptions> = {}): Store {
  return open({ kind: 'sqlite', file }, clock, { renderBody, ...options });
}
