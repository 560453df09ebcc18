// The one failure of keeping bytes that mends itself: a disk without space gets some back.
import { codeOf, ErrandError } from '../../domain/errors.ts';

const CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a call of the system was refused for want of space. */
export function lacksSpace(error: unknown): boolean {
  return CODES.has(codeOf(error) ?? '');
}

/** What such a call becomes on its way to another thread, in words for who asked. */
export function noSpace(): ErrandError {
  const cause = Object.assign(new Error('A write was refused.'), { code: 'ENOSPC' });
  return new ErrandError('unavailable', 'There is no space left on the disk.', { cause });
}

/** Whether an error is that one: what failed with it can be tried again. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof ErrandError && lacksSpace(error.cause);
}
