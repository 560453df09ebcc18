// Copies of the database from before an upgrade, as a kind of what is removed by age.
import { listUpgradeCopies, removeUpgradeCopies } from '../store/engine/sqlite/file/upgrade-copies.ts';
import type { KindParts } from './kinds.ts';

/** They are files beside the database; no commit removes them. */
export function keepOfUpgradeCopies(dataDir: string): KindParts['upgradeCopies'] {
  return {
    remove: async (before) => ({ rows: await removeUpgradeCopies(dataDir, before), more: false }),
    count: async (before) => {
      const old = listUpgradeCopies(dataDir).filter(({ madeAt }) => madeAt < before);
      return { rows: old.length, bytes: old.reduce((sum, { bytes }) => sum + bytes, 0), isAtLeast: false };
    },
  };
}
