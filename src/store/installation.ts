// The row of what all nodes of an installation have in common: the name of its master key.
import { type Database, FREES } from './engine/database.ts';
import type { Reader, Step, Transaction } from './engine/statement.ts';

// Without a home: the first beat of a node says where that is (`worker-nodes.ts`).
const CLAIM = `INSERT INTO installation (id, home_node, master_key_id) VALUES (1, '', ?)
  ON CONFLICT (id) DO UPDATE SET master_key_id = excluded.master_key_id WHERE installation.master_key_id IS NULL`;

export function* masterKeyIdIn(tx: Reader): Step<string | null> {
  return (
    (yield* tx.get<{ id: string | null }>('SELECT master_key_id AS id FROM installation WHERE id = 1'))?.id ?? null
  );
}

/** The verbs. */
export function makeInstallation({ read, write }: Database) {
  return {
    /** The id of the master key (`masterKeyIdOf`); null while no node has said. */
    masterKeyId: read(masterKeyIdIn),

    /** Says it, unless another one was said before. Returns the one that holds. */
    claimMasterKey: write(function* (tx: Transaction, id: string): Step<string> {
      yield* tx.run(CLAIM, id);
      return (yield* masterKeyIdIn(tx))!;
    }, FREES),

    /** The key is lost: whoever starts next says which one it is. */
    forgetMasterKey: write(function* (tx: Transaction): Step<void> {
      yield* tx.run('UPDATE installation SET master_key_id = NULL WHERE id = 1');
    }, FREES),
  };
}
