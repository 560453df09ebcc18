// The credentials of a new data directory as one JSON document (K5).
import type { Created } from '../frame/io.ts';

/** The document that `errand init -o json` prints. */
export interface CreatedWire {
  readonly data_dir: string;
  readonly config_dir: string;
  readonly admin: { readonly user_id: string; readonly username: string; readonly password: string };
  readonly api_key: { readonly id: string; readonly key: string; readonly scope: 'admin' };
}

/** Renders the document. */
export function createdWire({ dataDir, configDir, admin, apiKey }: Created): CreatedWire {
  return {
    data_dir: dataDir,
    config_dir: configDir,
    admin: { user_id: admin.userId, username: admin.username, password: admin.password },
    api_key: { id: apiKey.id, key: apiKey.key, scope: apiKey.scope },
  };
}
