// The one storage failure that resolves itself: a full disk gets space back.
import { codeOf, ErrandError } from '../../domain/errors.ts';

const CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a system call failed for lack of space. */
export function lacksSpace(error: unknown): boolean {
  return CODES.has(codeOf(error) ?? '');
}

/** The form of such an error for other threads, with a message for the caller. */
export function noSpace(): ErrandError {
  const cause = Object.assign(new Error('A write was refused.'), { code: 'ENOSPC' });
  return new ErrandError('unavailable', 'There is no space left on the disk.', { cause });
}

/** Whether an error is of this kind: what failed with it can be retried. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof ErrandError && lacksSpace(error.cause);
}
