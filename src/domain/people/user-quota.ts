// The space that the workspaces of one user may take in all.
import { MB } from '../byte-units.ts';
import { ErrandError } from '../errors.ts';

/** The refusal of a new turn of a user who is over it. Trying again doesn't help: only the user can free space. */
export function overUserQuota(usedBytes: number, quotaBytes: number): ErrandError {
  const [used, quota] = [Math.ceil(usedBytes / MB), Math.floor(quotaBytes / MB)];
  return new ErrandError(
    'too_large',
    `The files in the sessions of this user take ${used} MB, and the limit is ${quota} MB. Deleting sessions frees space.`,
  );
}
