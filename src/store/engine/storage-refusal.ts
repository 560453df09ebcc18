// The error of a storage that refuses, whatever the engine.
import { ErrandError } from '../../domain/errors.ts';

export class StorageRefusal extends ErrandError {
  /** Time alone mends it: others hold the storage, or its server is away. */
  readonly passes: boolean;

  /** `message`: for callers, without paths, addresses and codes. */
  constructor(message: string, { passes, cause }: { readonly passes: boolean; readonly cause: unknown }) {
    super('unavailable', message, { cause });
    this.passes = passes;
  }
}
